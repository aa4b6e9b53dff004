// Package loopback receives a browser that returns from a page to log in. It guarantees that
// it listens on this machine alone, only between Listen and Close, and that a page which does not
// know the state of the login cannot end it with an error.
package loopback

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/bb2d0cf4/agent/internal/crash"
)

// closeTime is how long the browser may take to read its last page.
const closeTime = time.Second

// Receiver waits for the browser.
type Receiver struct {
	URL string // to which the browser returns

	strict bool
	server *http.Server
	got    chan url.Values
	state  atomic.Pointer[string] // of the login; nil before it
	work   crash.Group
}

// Listen begins to receive the browser at a path. It takes the first port that is free, 0 is any.
// A strict receiver also passes over an answer with a code if its state is not the expected one;
// else the caller compares it.
func Listen(path string, strict bool, ports ...int) (r *Receiver, err error) {
	var l net.Listener
	for _, port := range ports {
		if l, err = net.Listen("tcp", fmt.Sprint("127.0.0.1:", port)); err == nil {
			break
		}
	}
	if err != nil {
		return nil, err
	}
	r = &Receiver{URL: "http://" + l.Addr().String() + path, strict: strict, got: make(chan url.Values, 1)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+path, r.receive)
	r.server = &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute, MaxHeaderBytes: 64 << 10}
	r.work.Go(func() { _ = r.server.Serve(l) }) // it ends with Close
	return r, nil
}

// Expect notes the state of the login, which an answer must repeat.
func (r *Receiver) Expect(state string) { r.state.Store(&state) }

func (r *Receiver) receive(w http.ResponseWriter, req *http.Request) {
	q := req.URL.Query()
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	code := q.Get("code") != ""
	if state := r.state.Load(); (r.strict || !code) && (state == nil || *state == "" || q.Get("state") != *state) {
		http.Error(w, "This page does not belong to the login that the terminal waits for.", http.StatusBadRequest)
		return // any page may have sent the browser here
	}
	select {
	case r.got <- q:
	default: // the first one counts
	}
	if code {
		_, _ = fmt.Fprintln(w, "You can close this page and return to the terminal.")
		return
	}
	_, _ = fmt.Fprintln(w, "The login failed. The terminal says more.")
}

// Wait returns the parameters of the first answer: with a code, or with an error.
func (r *Receiver) Wait(ctx context.Context) (url.Values, error) {
	select {
	case q := <-r.got:
		return q, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Close ends the server. The browser may read its page, even if ctx has ended.
func (r *Receiver) Close(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTime)
	defer cancel()
	if r.server.Shutdown(ctx) != nil {
		_ = r.server.Close()
	}
	r.work.Wait()
}
