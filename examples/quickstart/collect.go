package main

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/hookruntime/hooks"
)

// tiers are the folders of hook files. Who may write to a folder is what makes
// the hooks in it those of a tier: a host must not take the tier from the file.
var tiers = [...]struct {
	folder string
	tier   hooks.Tier
}{
	{"system", hooks.TierSystem},
	{"agent", hooks.TierAgent},
	{"user", hooks.TierUserGlobal},
}

// collect returns the hooks of this run, those in Go before those in files, and
// shows where they come from.
func collect(files fs.FS, sandbox hooks.Interpreters, without string, t *transcript) ([]hooks.Hook, error) {
	all := goHooks(t)
	t.line("hooks in Go: %s", names(all))
	inGo := len(all)
	for _, f := range tiers {
		paths, err := fs.Glob(files, f.folder+"/*.yaml")
		if err != nil {
			return nil, err
		}
		if len(paths) == 0 {
			// A policy that is missing must not look like one that passes.
			t.line("hooks in %s: none, there is no file", f.folder)
			continue
		}
		loaded, warnings, err := hooks.LoadFS(files, f.tier, paths...)
		if err != nil {
			return nil, err
		}
		for _, w := range warnings {
			t.line("%s", w)
		}
		t.line("hooks in %s: %s", f.folder, names(loaded))
		all = append(all, loaded...)
	}

	if len(all) == inGo {
		return nil, errors.New("no hook files: there is no *.yaml in system, agent or user")
	}

	kept := all[:0]
	found := without == ""
	for _, h := range all {
		switch problem := missing(&h, sandbox); {
		case h.Name == without:
			found = true
			t.line("left out: %s", h.Name)
		case problem != nil:
			t.line("left out: %s, because there is no python3", h.Name)
		default:
			kept = append(kept, h)
		}
	}
	if !found {
		return nil, fmt.Errorf("there is no hook %q to leave out", without)
	}
	return kept, nil
}

// missing says why a Python hook cannot run here. New refuses hooks without
// their interpreter, and most hosts should leave it at that: a guard that
// nobody can run is a reason to stop. This program shall run everywhere.
func missing(h *hooks.Hook, sandbox hooks.Interpreters) error {
	c, ok := h.Run.(hooks.Command)
	if !ok || !strings.HasPrefix(c.Script, "#!/usr/bin/env python3") {
		return nil
	}
	_, err := sandbox.Interpreter("python3")
	return err
}

func names(hs []hooks.Hook) string {
	list := make([]string, len(hs))
	for i := range hs {
		list[i] = hs[i].Name
	}
	return strings.Join(list, ", ")
}
