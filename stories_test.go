package hooks_test

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hookruntime/hooks/internal/story"
)

// storiesDir holds the stories: what the runtime does, told for people.
const storiesDir = "testdata/stories"

func TestStories(t *testing.T) {
	for _, s := range loadStories(t) {
		name := strings.TrimSuffix(filepath.Base(s.File), filepath.Ext(s.File)) + "/" + s.Sentence
		for _, conduct := range s.Conducts {
			t.Run(name+"/"+conduct.String(), func(t *testing.T) {
				t.Parallel() // bounded by the flag -parallel
				r := s.Run(t.Context(), conduct, 0)
				if r.Skipped != "" {
					t.Skipf("%s: %s", s.Place(), r.Skipped)
				}
				if r.Failed() {
					t.Errorf("%s\n%s\n\n%s", s.Place(), strings.Join(r.Differences, "\n"), r.Explain)
				}
			})
		}
	}
}

func loadStories(t *testing.T) []*story.Story {
	t.Helper()
	stories, err := story.Load(storiesDir)
	if err != nil {
		t.Fatal(err)
	}
	return stories
}

// storyClauses collects the clauses that stories name, each with the first
// place. How many stories name it is not counted.
func storyClauses(t *testing.T) map[string]string {
	t.Helper()
	places := make(map[string]string)
	for _, s := range loadStories(t) {
		for _, c := range s.Clauses {
			if _, ok := places[c]; !ok {
				places[c] = s.Place()
			}
		}
	}
	t.Logf("stories name %d clauses: %s", len(places), strings.Join(slices.Sorted(maps.Keys(places)), " "))
	return places
}
