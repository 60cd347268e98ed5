// Command tell runs the stories that name a clause and tells whether all of
// them came out as wanted. It is built over and over again with a mutated
// runtime, so it holds as little as possible.
//
//	tell DIR CLAUSE
//
// It returns 0 when all stories came out as wanted, 1 when one did not, and 2
// when it could not tell.
package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"github.com/hookruntime/hooks/internal/story"
)

// limit bounds one story.
const limit = 2 * time.Minute

func main() { os.Exit(tell(os.Args[1], os.Args[2])) }

func tell(dir, clause string) int {
	stories, err := story.Load(dir)
	if err != nil {
		fmt.Println(err)
		return 2
	}
	stories = slices.DeleteFunc(stories, func(s *story.Story) bool { return !slices.Contains(s.Clauses, clause) })
	// The first story that differs is enough.
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var told, wrong atomic.Int64
	slots := make(chan struct{}, 2*runtime.GOMAXPROCS(0))
	for _, s := range stories {
		for _, conduct := range s.Conducts {
			slots <- struct{}{}
			go func() {
				defer func() { <-slots }()
				if ctx.Err() != nil {
					return
				}
				r := s.Run(ctx, conduct, limit)
				if r.Skipped != "" || r.Took >= limit || ctx.Err() != nil {
					return // a story that took too long, or was broken off, tells nothing
				}
				told.Add(1)
				if r.Failed() {
					if wrong.Add(1) == 1 {
						fmt.Printf("%s, in %s conduct: %s\n", s.Place(), conduct, r.Differences[0])
					}
					cancel()
				}
			}()
		}
	}
	for range cap(slots) {
		slots <- struct{}{}
	}
	switch {
	case wrong.Load() > 0:
		return 1
	case told.Load() == 0:
		fmt.Println("no story could be told")
		return 2
	}
	return 0
}
