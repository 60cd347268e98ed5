package main

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/hookruntime/hooks"
)

// origins tells which file each hook is from, empty where it is not known. The
// loader does not say, but its hooks come in the order of the files.
func origins(found []hooks.Hook, names []string, opts *hooks.CheckOptions) []string {
	from, next := make([]string, len(found)), 0
	for _, file := range hookFiles(names) {
		own, _ := hooks.Check([]string{file}, opts)
		for _, h := range own {
			if next == len(found) {
				break
			}
			// Numbers in names go on from file to file. One that is not the
			// next was left out, since its name was taken.
			h.Name = found[next].Name
			if reflect.DeepEqual(h, found[next]) {
				from[next] = file
				next++
			}
		}
	}
	return from
}

// hookFiles returns names with the hook files of folders in place of these. A
// pipe is left out: it cannot be read twice.
func hookFiles(names []string) (files []string) {
	for _, name := range names {
		entries, err := os.ReadDir(name)
		if err != nil { // no folder
			files = append(files, name)
		}
		for _, e := range entries {
			switch strings.ToLower(filepath.Ext(e.Name())) {
			case ".yaml", ".yml", ".json":
				if !strings.HasPrefix(e.Name(), ".") {
					files = append(files, filepath.Join(name, e.Name()))
				}
			}
		}
	}
	return slices.DeleteFunc(files, func(file string) bool {
		info, err := os.Stat(file)
		return err != nil || !info.Mode().IsRegular()
	})
}
