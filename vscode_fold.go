package hooks

import (
	"slices"
	"strings"
)

// foldVSCode turns steps of VSCode's hooks into a decision: stop, deny, ask,
// reject, allow, pass, whichever comes first. It is pure.
func foldVSCode(row *eventRow, _ Conduct, cannotAsk bool, steps []Step) (d Decision) {
	terms := &row.terms[VSCode]
	d.Outcome = OutcomePass
	var decided, byExit *Step
	var contexts, reasons, stops []string
	for i := range steps {
		s := &steps[i]
		if Contract.rank(s.heard) > Contract.rank(d.Outcome) {
			d.Outcome, decided = s.heard, s
		}
		switch s.heard {
		case OutcomeStop:
			stops = addOnce(stops, cleanText(s.StopReason))
		case OutcomeDeny:
			if s.exit {
				byExit = s // the last one's message stands
			}
		case OutcomeReject:
			reason := cleanText(s.Reason)
			reasons = addOnce(reasons, reason)
			d.Rejections = append(d.Rejections, Rejection{s.Hook, reason})
		case OutcomeAllow:
			d.Allows = append(d.Allows, s.Hook)
		}
		if terms.context {
			contexts = addText(contexts, cleanText(s.Context))
		}
		d.SystemMessages = addText(d.SystemMessages, cleanText(s.SystemMessage))
		if s.UpdatedInput != nil {
			d.UpdatedInput = s.UpdatedInput // the last one wins
		}
	}
	d.Context = strings.Join(contexts, "\n")
	if d.Outcome != OutcomeReject {
		d.Rejections = nil
	}
	if d.Outcome != OutcomeAllow {
		d.Allows = nil
	}
	if decided == nil {
		return d
	}
	d.decidedAt = int32(decided.index)
	d.By = decided.Hook.Name
	switch d.Outcome {
	case OutcomeStop:
		d.StopReason = strings.Join(stops, "; ")
	case OutcomeDeny:
		if byExit != nil {
			decided = byExit
		}
		d.By, d.Reason = decided.Hook.Name, cleanText(decided.Reason)
	case OutcomeReject:
		if !terms.joinReasons {
			reasons = reasons[:1]
		}
		d.Reason = strings.Join(reasons, "; ")
		d.ResultStays = terms.resultStays
		d.continues = row.ending
	case OutcomeAsk:
		d.Question = cleanText(decided.Question)
		if cannotAsk {
			d.denyAsk(row)
		}
	}
	return d
}

// addText appends a text unless it is blank.
func addText(texts []string, text string) []string {
	if strings.TrimSpace(text) == "" {
		return texts
	}
	return append(texts, text)
}

// addOnce appends a text unless it is blank or there already.
func addOnce(texts []string, text string) []string {
	if slices.Contains(texts, text) {
		return texts
	}
	return addText(texts, text)
}
