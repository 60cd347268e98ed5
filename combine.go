package hooks

import (
	"strings"

	"github.com/hookruntime/hooks/internal/wire"
)

// fold turns the steps that ran into a decision. It is a pure function of its
// arguments. Texts are cut last, so that a cut one is marked once (TXT-5).
func fold(row *eventRow, c Conduct, lim Limits, cannotAsk bool, steps []Step) Decision {
	d := foldWhole(row, c, cannotAsk, steps)
	for _, text := range []*string{&d.Reason, &d.Question, &d.Context, &d.StopReason} {
		*text = cutText(*text, lim.Text)
	}
	for i := range d.Rejections {
		d.Rejections[i].Reason = cutText(d.Rejections[i].Reason, lim.Text)
	}
	for i, m := range d.SystemMessages {
		d.SystemMessages[i] = cutText(m, lim.Text)
	}
	return d
}

// foldWhole lets each dialect fold its own steps; where there are several, the
// parts are combined.
func foldWhole(row *eventRow, c Conduct, cannotAsk bool, steps []Step) Decision {
	one := true
	for i := range steps {
		one = one && steps[i].Dialect == steps[0].Dialect
	}
	if one {
		dialect := HookContract
		if len(steps) > 0 {
			dialect = steps[0].Dialect
		}
		return manners[dialect].fold(row, c, cannotAsk, steps)
	}
	var parts []Decision
	for dialect := range Dialect(dialectCount) {
		var own []Step
		for i := range steps {
			if steps[i].Dialect == dialect {
				own = append(own, steps[i])
			}
		}
		if len(own) > 0 {
			parts = append(parts, manners[dialect].fold(row, c, cannotAsk, own))
		}
	}
	return combined(row, parts)
}

// combined makes one decision of those that the dialects came to: the most
// restrictive outcome wins, of equal ones that of the earlier hook. What people
// and the model are told is told of all.
func combined(row *eventRow, parts []Decision) (d Decision) {
	first := &parts[0]
	for i := range parts {
		p := &parts[i]
		a, b := Contract.rank(p.Outcome), Contract.rank(first.Outcome)
		if a > b || a == b && p.decidedAt < first.decidedAt {
			first = p
		}
	}
	d.Outcome, d.By, d.decidedAt = first.Outcome, first.By, first.decidedAt
	d.Reason, d.Question, d.StopReason, d.Withheld = first.Reason, first.Question, first.StopReason, first.Withheld
	d.ResultStays = d.Outcome == OutcomeReject
	var reasons, contexts []string
	var metadata metadataSet
	for i := range parts {
		p := &parts[i]
		if p.Outcome == d.Outcome {
			reasons = addText(reasons, p.Reason)
			d.Rejections, d.Allows = append(d.Rejections, p.Rejections...), append(d.Allows, p.Allows...)
			// A block that withholds the result outranks a note beside it.
			d.ResultStays = d.ResultStays && p.ResultStays
		}
		contexts = addText(contexts, p.Context)
		for _, e := range p.Metadata {
			metadata.add(e)
		}
		d.SystemMessages = append(d.SystemMessages, p.SystemMessages...)
		if p.UpdatedInput != nil {
			d.UpdatedInput = p.UpdatedInput
		}
		d.Diagnostics = append(d.Diagnostics, p.Diagnostics...)
		d.prompted, d.continues = d.prompted || p.prompted, d.continues || p.continues
	}
	if d.Outcome == OutcomeReject {
		d.Reason = strings.Join(reasons, "\n")
	}
	if !d.Withheld { // TXT-4
		d.Context = strings.Join(contexts, "\n")
	}
	if d.Outcome == OutcomePass || d.Outcome == OutcomeAllow || d.ResultStays {
		if d.Outcome == OutcomeAllow && row.marksAllower {
			metadata.set(MetadataEntry{Key: AllowingHook, Value: wire.AppendString(nil, d.By)})
		}
		d.Metadata = metadata.list
	}
	return d
}
