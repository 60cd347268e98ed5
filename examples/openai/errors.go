package openai

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

// Error is a refusal by the service. It keeps neither the service's own text,
// which may quote the prompt or the key, nor the SDK's error, which holds the
// request: errors are logged.
type Error struct {
	Status    int    // of HTTP
	Type      string // "invalid_request_error", for example; may be empty
	Code      string // "context_length_exceeded", for example; may be empty
	RequestID string // to ask the vendor about; may be empty
}

func (e *Error) Error() string {
	s := fmt.Sprintf("openai: the service answered %d", e.Status)
	for _, word := range []string{e.Type, e.Code} {
		if word != "" {
			s += " " + word
		}
	}
	if e.RequestID != "" {
		s += " (request " + e.RequestID + ")"
	}
	return s
}

// describe says what went wrong, without quoting what was sent or received.
func describe(ctx context.Context, err error, res *http.Response) error {
	var transport *url.Error
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("openai: %w", ctx.Err())
	case res != nil && res.StatusCode >= 400:
		e := &Error{Status: res.StatusCode, RequestID: res.Header.Get("X-Request-Id")}
		if refusal := (*sdk.Error)(nil); errors.As(err, &refusal) {
			e.Type, e.Code = refusal.Type, refusal.Code
		}
		return e
	case res != nil:
		return errors.New("openai: the service's answer is cut, or not the JSON that was expected")
	case errors.As(err, &transport):
		return fmt.Errorf("openai: the service was not reached: %w", transport.Err)
	}
	return fmt.Errorf("openai: the request could not be made: %w", err)
}

// retryInTime lets the SDK retry only if the deadline leaves time for it.
// Else the wait would use the time up and the failure be told as a timeout,
// and what the service had said would be lost.
func retryInTime(req *http.Request, next option.MiddlewareNext) (*http.Response, error) {
	res, err := next(req)
	if err != nil {
		return res, err
	}
	deadline, ok := req.Context().Deadline()
	if ok && time.Until(deadline) < retryAfter(res.Header)+time.Second {
		res.Header.Set("X-Should-Retry", "false")
	}
	return res, nil
}

// retryAfter is how long the service wants to be left alone, at most an hour,
// which is longer than any hook has.
func retryAfter(h http.Header) time.Duration {
	const most = float64(time.Hour)
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms >= 0 {
		return time.Duration(min(ms*float64(time.Millisecond), most))
	}
	if s, err := strconv.ParseFloat(h.Get("Retry-After"), 64); err == nil && s >= 0 {
		return time.Duration(min(s*float64(time.Second), most))
	}
	if at, err := http.ParseTime(h.Get("Retry-After")); err == nil {
		return min(time.Until(at), time.Hour)
	}
	return 0
}
