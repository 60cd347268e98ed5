package hooks

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// maxFile bounds one configuration file, in bytes: a device or a log given by
// mistake must not fill the memory.
const maxFile = 4 << 20

// fileTree is where files come from. The names in it are spelled by its rules.
type fileTree interface {
	open(name string) (fs.File, error)
	join(folder, name string) string
}

type osFiles struct{}

func (osFiles) open(name string) (fs.File, error) { return os.Open(name) }
func (osFiles) join(folder, name string) string   { return filepath.Join(folder, name) }

type fsFiles struct{ fs.FS }

func (f fsFiles) open(name string) (fs.File, error) { return f.Open(name) }
func (fsFiles) join(folder, name string) string     { return path.Join(folder, name) }

// files reads files and folders.
func (l *loader) files(from fileTree, names []string) {
	if len(names) == 0 {
		l.errorIn("", "no hooks: no file is named")
	}
	for _, name := range names {
		f, err := from.open(name)
		if err != nil {
			l.errorIn(name, "cannot be opened: %v", withoutPath(err))
			continue
		}
		if info, err := f.Stat(); err == nil && info.IsDir() {
			l.folder(from, name, f)
		} else {
			l.read(name, f)
		}
		f.Close()
	}
}

func (l *loader) read(name string, f fs.File) {
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	switch {
	case err != nil:
		l.errorIn(name, "cannot be read: %v", withoutPath(err))
	case len(data) > maxFile:
		l.errorIn(name, "is larger than %d MiB, which is no configuration file", maxFile>>20)
	default:
		l.file(name, data)
	}
}

// folder reads the configuration files of a folder in name order.
func (l *loader) folder(from fileTree, name string, f fs.File) {
	dir, ok := f.(fs.ReadDirFile)
	if !ok {
		l.errorIn(name, "is a folder that cannot be listed")
		return
	}
	entries, err := dir.ReadDir(-1)
	if err != nil {
		l.errorIn(name, "cannot be listed: %v", withoutPath(err))
		return
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	found := false
	for _, e := range entries {
		switch strings.ToLower(fileExtension(e.Name())) {
		case ".yaml", ".yml", ".json":
		default:
			continue
		}
		full := from.join(name, e.Name())
		if strings.HasPrefix(e.Name(), ".") {
			// What editors leave behind (locks, backups) is no policy, but a
			// guard that somebody hid must not vanish without a word.
			l.add(Diagnostic{File: full, Message: "is left out: a hidden file is not loaded with its folder"})
			continue
		}
		if e.IsDir() {
			continue
		}
		file, err := from.open(full)
		if err != nil {
			l.errorIn(full, "cannot be opened: %v", withoutPath(err))
			found = true
			continue
		}
		if info, err := file.Stat(); err != nil || !info.IsDir() { // a link may lead to a folder
			l.read(full, file)
			found = true
		}
		file.Close()
	}
	if !found {
		l.errorIn(name, "no hooks: the folder holds no *.yaml, *.yml or *.json file")
	}
}

// withoutPath takes the file's name out of an error: the diagnostic has it already.
func withoutPath(err error) error {
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
		return pe.Err
	}
	return err
}
