//go:build unix

package proc

import (
	"context"
	"testing"
	"time"
)

// Where many start at once, a deadline does not wait for its turn, and turns
// come back, after starts that failed too.
func TestDeadlineBeforeItsTurn(t *testing.T) {
	for range cap(starting) {
		starting <- struct{}{}
	}
	c, stdout, _ := bash(`echo started`)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	begin := time.Now()
	if _, err := Run(ctx, &c); err != context.DeadlineExceeded || time.Since(begin) > soon {
		t.Errorf("%v after %v", err, time.Since(begin))
	}
	if stdout.Total() != 0 {
		t.Errorf("it ran")
	}
	for range cap(starting) {
		<-starting
	}
	for range 2 * cap(starting) {
		if _, err := Run(t.Context(), &Cmd{Argv: []string{"/nowhere/no-program"}}); err == nil {
			t.Fatal("it started")
		}
		wantExit(t, mustRun(t, t.Context(), c, soon), Exit{})
	}
}
