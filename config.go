package hooks

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Load reads hooks from configuration files, YAML or JSON, in any of the
// shapes of CFG-1 and CFG-2, and gives them the tier. A folder stands for its
// *.yaml, *.yml and *.json files in name order; folders in it and hidden files
// are left out.
//
// The hooks come in the order of the files, which is the order in which the
// hooks of a tier run. All hooks or none: when any file has an error, hooks is
// nil and err is a [*ConfigError] with every error of every file, sorted by
// place. Files without any hook, an empty folder and an empty list of files
// are errors too: a policy that is not there must not look like one that
// passes. Warnings (CFG-5) never stop loading; they are returned in both
// cases.
//
// What a reader of YAML could take in two ways is refused where it would be a
// part of a hook: aliases, merge keys and tags of its own, keys given twice,
// numbers that are not in plain digits. Unknown keys are warnings, also those
// that seem to switch a hook off (enabled: false): the hook then runs, and the
// warning says so.
//
// The zero Tier is refused. An ExtendedAgent's hooks can be loaded with
// [TierAgent] only, and belong to the agent of its name.
//
// It is the method [Dialect.Load] of [HookContract].
func Load(tier Tier, files ...string) (hooks []Hook, warnings []Diagnostic, err error) {
	return HookContract.Load(tier, files...)
}

// LoadFS is [Load] for the files of fsys, as an embed.FS.
func LoadFS(fsys fs.FS, tier Tier, names ...string) (hooks []Hook, warnings []Diagnostic, err error) {
	return HookContract.LoadFS(fsys, tier, names...)
}

// Parse is [Load] for a file that is in memory already. The name stands in
// diagnostics; one that ends in .json makes the data be read as JSON, and
// hooks without a name of their own are named after it.
func Parse(tier Tier, name string, data []byte) (hooks []Hook, warnings []Diagnostic, err error) {
	return HookContract.Parse(tier, name, data)
}

// Load reads hooks from files in the dialect's format and gives them the dialect
// and the tier. What [Load] says of files, folders, errors and warnings holds
// for every dialect.
//
// Files of [VSCode] are JSON with comments, or YAML if their name says so, with
// hooks by event; items may be grouped under a matcher, which has no effect. The
// command is the one for this system. Files only add: hooks run in file order,
// with the names <file>/<Event>/<n>. An unknown event, another type than
// command, and a hook without a command for this system are skipped with a
// warning.
func (d Dialect) Load(tier Tier, files ...string) (hooks []Hook, warnings []Diagnostic, err error) {
	return d.loader(tier).load(osFiles{}, files)
}

// LoadFS is [Dialect.Load] for the files of fsys, as an embed.FS.
func (d Dialect) LoadFS(fsys fs.FS, tier Tier, names ...string) (hooks []Hook, warnings []Diagnostic, err error) {
	return d.loader(tier).load(fsFiles{fsys}, names)
}

// Parse is [Dialect.Load] for a file that is in memory already, as the function
// [Parse] is for [Load].
func (d Dialect) Parse(tier Tier, name string, data []byte) (hooks []Hook, warnings []Diagnostic, err error) {
	l := d.loader(tier)
	if l.refuse() {
		return l.result()
	}
	l.file(name, data)
	return l.result()
}

// CheckOptions are the options of [Check]. The zero value checks files of the
// local machine and takes each hook's tier from its shape.
type CheckOptions struct {
	// Dialect is that of the files; zero is HookContract.
	Dialect Dialect
	// Tier is the tier to check for. Zero takes it from the shape (CFG-3):
	// TierAgent for an ExtendedAgent and for a bare map of hooks,
	// TierUserGlobal for any other, and for files of VSCode.
	Tier Tier
	// ToolNames are the tool names of the host. When there are any, a matcher
	// that selects none of them gets a warning.
	ToolNames []string
	// FS holds the files; nil means the local machine's.
	FS fs.FS
}

// Check reads files as [Load] does, for people who look at them rather than
// for a Runtime: it returns every finding, errors and warnings in one list
// sorted by place, and also the hooks of files with errors, as far as they are
// free of errors themselves. Do not run these hooks: some may be missing. Nil
// options are the zero options.
func Check(files []string, opts *CheckOptions) (hooks []Hook, findings []Diagnostic) {
	if opts == nil {
		opts = &CheckOptions{}
	}
	l := opts.Dialect.loader(opts.Tier)
	l.toolNames, l.shapeTier = opts.ToolNames, true
	var from fileTree = osFiles{}
	if opts.FS != nil {
		from = fsFiles{opts.FS}
	}
	if !l.refuse() {
		l.files(from, files)
	}
	sortDiagnostics(l.findings)
	return l.hooks, l.findings
}

// loader gathers what the files of one call hold.
type loader struct {
	dialect   Dialect
	goos      string // the system that hooks are chosen for
	tier      Tier   // of all hooks
	shapeTier bool   // the zero tier means the shape's own
	toolNames []string

	hooks    []Hook // those without errors
	findings []Diagnostic
	names    map[HookRef]filePlace // where a name was given first
	numbers  map[HookRef]int       // hooks without a name so far, by prefix; the name is prefix and event
}

type filePlace struct {
	file string
	place
}

// format is how the files of a dialect are read.
type format struct {
	document func(r *fileReader, n *node)
	// comments says that files are JSON with comments, unless their name says
	// that they are YAML.
	comments bool
}

// formats is never written to.
var formats = [dialectCount]format{
	HookContract: {document: (*fileReader).document},
	VSCode:       {document: (*fileReader).vscodeDocument, comments: true},
}

func (d Dialect) loader(tier Tier) *loader {
	return &loader{dialect: d, goos: runtime.GOOS, tier: tier}
}

func (l *loader) load(from fileTree, files []string) ([]Hook, []Diagnostic, error) {
	if !l.refuse() {
		l.files(from, files)
	}
	return l.result()
}

// refuse reports a dialect or a tier that hooks cannot have.
func (l *loader) refuse() bool {
	if !l.dialect.valid() {
		l.add(Diagnostic{Severity: SeverityError, Key: "dialect", Message: l.dialect.String() + " is no dialect to load hooks in"})
		return true
	}
	if l.tier >= TierSystem && l.tier <= TierUserGlobal || l.tier == 0 && l.shapeTier {
		return false
	}
	l.add(Diagnostic{
		Severity: SeverityError, Key: "tier",
		Message: fmt.Sprintf("%v is no tier to load hooks for; it must be TierSystem, TierAgent or TierUserGlobal", l.tier),
	})
	return true
}

func (l *loader) add(d Diagnostic) { l.findings = append(l.findings, d) }

func (l *loader) errorIn(file, format string, args ...any) {
	l.add(Diagnostic{Severity: SeverityError, File: file, Message: fmt.Sprintf(format, args...)})
}

// file reads one file.
func (l *loader) file(name string, data []byte) {
	docs, notes, faults := readNodes(name, data, formats[l.dialect].comments)
	r := fileReader{loader: l, file: name}
	for _, f := range notes {
		l.add(Diagnostic{File: name, Line: f.at.line, Column: f.at.col, Message: f.message})
	}
	for _, f := range faults {
		l.add(Diagnostic{Severity: SeverityError, File: name, Line: f.at.line, Column: f.at.col, Message: f.message})
	}
	before := len(l.findings)
	for _, doc := range docs {
		formats[l.dialect].document(&r, doc)
	}
	if r.found == 0 && len(faults) == 0 && !slices.ContainsFunc(l.findings[before:], isError) {
		at := place{1, 1}
		if len(docs) > 0 {
			at = docs[0].at
		}
		l.add(Diagnostic{Severity: SeverityError, File: name, Line: at.line, Column: at.col, Message: "no hooks in this file"})
	}
}

func isError(d Diagnostic) bool { return d.Severity == SeverityError }

// result hands out all hooks or none.
func (l *loader) result() (hooks []Hook, warnings []Diagnostic, err error) {
	sortDiagnostics(l.findings)
	var errs []Diagnostic
	for _, d := range l.findings {
		if isError(d) {
			errs = append(errs, d)
		} else {
			warnings = append(warnings, d)
		}
	}
	if errs != nil {
		return nil, warnings, &ConfigError{Diagnostics: errs}
	}
	return l.hooks, warnings, nil
}

// take adds a hook that has no errors, unless its name is taken (CFG-4).
func (r *fileReader) take(h Hook, at place, key string) {
	ref := h.Ref()
	if first, taken := r.names[ref]; taken {
		r.report(SeverityError, at, key, "", "name %q is used twice in tier %s, in %s:%d and in %s:%d; names are unique in a tier, and nothing is merged",
			excerpt(h.Name), h.Tier, first.file, first.line, r.file, at.line)
		return
	}
	if r.names == nil {
		r.names = make(map[HookRef]filePlace)
	}
	r.names[ref] = filePlace{r.file, at}
	r.hooks = append(r.hooks, h)
}

// number names a hook that has no name of its own: prefix/Event/n, n from 1
// and going on over all files, so that names are unique (CFG-2).
func (l *loader) number(tier Tier, agent, prefix string, event EventName) string {
	base := prefix + "/" + string(event)
	id := HookRef{Name: base, Tier: tier, Agent: agent}
	if l.numbers == nil {
		l.numbers = make(map[HookRef]int)
	}
	l.numbers[id]++
	return fmt.Sprintf("%s/%d", base, l.numbers[id])
}

// fileStem is the part of a file's name that names hooks.
func fileStem(file string) string {
	base := filepath.Base(filepath.ToSlash(file))
	if s := strings.TrimSuffix(base, fileExtension(base)); s != "" {
		return s
	}
	return base
}

// fileExtension returns the file name's extension with its dot.
func fileExtension(file string) string { return filepath.Ext(file) }
