package remote

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/bb2d0cf4/agent/internal/lazyregexp"
	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/peer"
	"github.com/bb2d0cf4/agent/internal/plural"
	"github.com/bb2d0cf4/agent/internal/tlsfault"
)

// brokenError is a failure to read the stream of an answer.
type brokenError struct{ err error }

func (b *brokenError) Error() string { return b.err.Error() }
func (b *brokenError) Unwrap() error { return b.err }

// failure is a failed attempt. again reports whether the same request may work later.
type failure struct {
	err   *llm.Error
	again bool
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

// reason returns the first sentence of the error, without the advice.
func (f *failure) reason() string {
	what, _, _ := strings.Cut(f.err.Message, ". ")
	what = strings.TrimRight(what, ".")
	if limited, _, ok := strings.Cut(what, ": "); ok && f.err.Status == http.StatusTooManyRequests && strings.HasPrefix(what, "Rate limited") {
		return limited
	}
	if f.err.Status != 0 {
		what += fmt.Sprintf(" (HTTP %d)", f.err.Status)
	}
	return what
}

// reporter explains a provider's errors to the user.
type reporter struct {
	name    string // of the model, as the user writes it
	baseURL string
	base    *url.URL
	limits  Limits
	now     func() time.Time
	key     *key
}

func (c *Client) reporter() reporter {
	name := c.opt.Name
	if name == "" && c.base != nil {
		name = c.base.Host
	}
	return reporter{name: name, baseURL: Shown(c.opt.BaseURL), base: c.base, limits: c.opt.Limits, now: c.opt.Clock.Now, key: &c.key}
}

// Shown returns an address as people may see it, without the user name and password
// that it may hold.
func Shown(address string) string {
	start := 0
	if i := strings.Index(address, "://"); i >= 0 {
		start = i + len("://")
	}
	host, _, _ := strings.Cut(address[start:], "/")
	at := strings.LastIndexByte(host, '@')
	if at < 0 {
		return address
	}
	return address[:start] + "xxxxx" + address[start+at:]
}

// explain describes err to the user in one sentence.
func (r reporter) explain(err error) *failure {
	var known *failure
	if errors.As(err, &known) {
		return known
	}
	var ours *llm.Error
	if errors.As(err, &ours) {
		return &failure{err: ours}
	}
	fail := func(kind llm.ErrorKind, again bool, format string, args ...any) *failure {
		return &failure{err: &llm.Error{Kind: kind, Message: fmt.Sprintf(format, args...), Err: err}, again: again}
	}
	var redirect *redirectError
	var noKey *keyError
	switch {
	case errors.As(err, &noKey) && r.key.renew != nil:
		return fail(llm.Unauthorized, false, "No request was sent to %s: %v.", r.name, noKey.err)
	case errors.As(err, &noKey):
		return fail(llm.Unauthorized, false, "The API key for %s could not be read: %v. Check how its provider is configured.", r.name, noKey.err)
	case errors.As(err, &redirect):
		return fail(llm.Refused, false, "%s %s. The redirect was not followed, because it would send your key and conversation there. If the new address is right, set it as the base URL.", r.base.Host, redirect.Error())
	case errors.Is(err, errIdle):
		return fail(llm.Idle, true, "%s has sent nothing for %v, so the request was ended. Try again, or raise idle_timeout.", r.base.Host, r.limits.Idle)
	case errors.Is(err, errStalled):
		return fail(llm.Idle, true, "%s has sent nothing more of its answer for %v, so the request was ended. The text so far is kept; none of its tool calls was run. Try again, or raise idle_timeout.", r.base.Host, r.limits.Idle)
	case errors.Is(err, ErrUnfinished), errors.Is(err, io.ErrUnexpectedEOF):
		return fail(llm.Truncated, true, "The answer from %s broke off before its end. The text so far is kept; none of its tool calls was run.", r.base.Host)
	}
	if f := r.limitFailure(err); f != nil {
		return f
	}
	if f := r.connectFailure(err); f != nil {
		return f
	}
	var network net.Error
	var broken *brokenError
	if errors.As(err, &network) || errors.As(err, &broken) || errors.Is(err, io.EOF) {
		return fail(llm.Truncated, true, "The connection to %s broke off: %v.", r.base.Host, bare(err))
	}
	return fail(llm.Temporary, false, "%s sent an answer that cannot be read: %v.", r.base.Host, bare(err))
}

// limitFailure explains that an answer exceeded a limit; nil if err is not that.
func (r reporter) limitFailure(err error) *failure {
	fail := func(kind llm.ErrorKind, format string, args ...any) *failure {
		return &failure{err: &llm.Error{Kind: kind, Message: fmt.Sprintf(format, args...), Err: err}}
	}
	switch {
	case errors.Is(err, errTotal):
		return fail(llm.Idle, "The answer from %s was not complete after %v, so the request was ended. Try again with a smaller task.", r.base.Host, r.limits.Total)
	case errors.Is(err, errPauses):
		return fail(llm.Truncated, "%s has paused its answer %d times, so the request was ended. The text so far is kept. Try again with a smaller task.", r.base.Host, maxPauses)
	case errors.Is(err, errEndless):
		return fail(llm.Refused, "%s sent more than %d MB, more than any answer has, so the request was ended.", r.base.Host, maxAnswer>>20)
	case errors.Is(err, ErrTooLarge):
		return fail(llm.Refused, "%s sent an event of more than %d MB, which is the limit.", r.base.Host, MaxEvent>>20)
	}
	return nil
}

// connectFailure explains a failure to connect; nil if err is not one.
func (r reporter) connectFailure(err error) *failure {
	fail := func(again bool, what, next string) *failure {
		message := fmt.Sprintf("%s %s. %s", r.base.Host, what, next)
		return &failure{err: &llm.Error{Kind: llm.Unreachable, Message: message, Err: err}, again: again}
	}
	var dns *net.DNSError
	var op *net.OpError
	fault, advice := tlsfault.Explain(err, r.now())
	switch {
	case fault != "":
		return fail(false, fault, advice)
	case errors.As(err, &dns):
		return fail(!dns.IsNotFound, "could not be found by name", "Check the base URL and your network.")
	case errors.As(err, &op) && op.Op == "dial" && peer.IsLoopback(r.base.Hostname()):
		// Nothing listens there until somebody starts the server: do not retry.
		return fail(false, "does not answer", "Start the model's server there, or set another base URL.")
	case errors.As(err, &op) && op.Op == "dial":
		return fail(true, "cannot be reached", fmt.Sprintf("Check your network and the base URL (%v).", bare(err)))
	}
	return nil
}

// bare returns err without the method and address of the request.
func bare(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

func (r reporter) addressFailure() error {
	return &llm.Error{
		Kind:    llm.Unreachable,
		Message: fmt.Sprintf("The base URL %q is not valid. It must look like http://localhost:11434/v1.", r.baseURL),
	}
}

// pageFailure explains an answer that is a web page.
func (r reporter) pageFailure(page []byte) *failure {
	title := ""
	if said := r.key.redact(ParseServerError(page).Message); said != "" {
		title = fmt.Sprintf(" (%q)", said)
	}
	what, advice := "a web page", "The base URL is probably wrong; most end in /v1."
	if login.Match(page) {
		what, advice = "a login page", "A proxy or the network probably wants you to log in: open that address in a browser, then try again."
	} else if versioned.MatchString(r.base.Path) {
		advice = "Check the base URL, and the proxy if you use one."
	}
	return &failure{err: &llm.Error{
		Kind:    llm.NotFound,
		Message: fmt.Sprintf("%s answered with %s%s instead of a model's answer. %s", r.baseURL, what, title, advice),
	}}
}

var (
	// login matches the page of a proxy or a network that asks people to log in.
	login = lazyregexp.New(`(?i)type=["']?password|captive|\b(log|sign)[ -]?(in|on)\b`)
	// versioned matches the path of a base URL that ends as most do.
	versioned = lazyregexp.New(`/v\d+\w*/?$`)
)

// serverFailure explains an error that the server reported. Its status is zero if it
// came in a stream and named none.
func (r reporter) serverFailure(said *ServerError, wait time.Duration) *failure {
	kind, again := said.Kind()
	e := &llm.Error{Kind: kind, Status: said.Status, RetryAfter: wait, Field: said.Field}
	if kind == llm.TooLong {
		e.Window, e.Needed = said.Sizes()
	}
	for _, detail := range said.Details {
		e.Details = append(e.Details, r.key.redact(detail))
	}
	text := strings.TrimRight(r.key.redact(said.Message), ".")
	if kind == llm.Unauthorized {
		r.key.drop() // only now: redact needed it
	}
	if text == "" {
		text = http.StatusText(said.Status)
	}
	if text == "" {
		text = "no reason given"
	}
	if !said.Resets.IsZero() && kind == llm.QuotaExceeded {
		text += said.Resets.Local().Format(" (until Mon, Jan 2, 15:04)")
	}
	e.Message = fmt.Sprintf(cmp.Or(r.byStatus(said, kind, text), sentences[kind]), r.name, text)
	if e.RetryAfter == 0 {
		e.RetryAfter = askedWait(text)
	}
	if again && e.RetryAfter > maxWait {
		again = false
		until := r.now().Add(e.RetryAfter)
		e.Message += fmt.Sprintf(" The server asks to wait %s, until %s: try again then, or choose another model.",
			hours(e.RetryAfter), until.Format(cmp.Or(map[bool]string{true: "15:04"}[e.RetryAfter < 12*time.Hour], "Mon, Jan 2, 15:04")))
		e.Message = strings.Replace(e.Message, " Try again in a while.", "", 1)
	}
	return &failure{err: e, again: again}
}

// byStatus returns the sentence for an error whose status says more than its kind, or "".
func (r reporter) byStatus(said *ServerError, kind llm.ErrorKind, text string) string {
	switch {
	case said.Code == planLimit, said.Code == planNot, kind == llm.Unauthorized && r.key.renew != nil:
		return cmp.Or(planSentences[said.Code], "%s refused the sign-in with ChatGPT: %s. Sign in again: agent login.")
	case kind == llm.Temporary && said.Status == http.StatusTooManyRequests && said.rateLimited():
		return "Rate limited by %s: %s. Try again in a while."
	case said.Status == http.StatusForbidden && said.Page:
		return "A proxy or firewall blocked the request to %s: %s. Ask who runs it, or check the base URL."
	case said.Status == http.StatusForbidden && !said.aboutKey():
		return "%s denied access: %s. The key may not include this model, or your region or network is blocked."
	case said.Status == http.StatusBadRequest && r.base != nil && r.base.Scheme == "http" && plainHTTP.MatchString(text):
		return "%s only speaks https: %s. Use https:// in the base URL."
	}
	return ""
}

// planSentences are the messages for the errors of requests that a plan of ChatGPT pays for, by their code; others are about the token.
var planSentences = map[string]string{
	planLimit: "The limit for %s is reached, that of your ChatGPT plan or the weekly one that you set for this program: %s. See https://chatgpt.com/settings/usage, or choose another model.",
	planNot:   "Your ChatGPT plan cannot pay for %s: %s. Use a key: agent logout, then agent config model.",
}

// plainHTTP matches the answers of servers that speak TLS on that port.
var plainHTTP = lazyregexp.New(`(?i)http request (was sent )?to (an )?https (server|port)`)

// hours formats a wait of at least some minutes.
func hours(d time.Duration) string {
	d = d.Round(time.Minute)
	switch h := plural.Of(int(d/time.Hour), "hour"); {
	case d < time.Hour:
		return plural.Of(int(d/time.Minute), "minute")
	case d%time.Hour == 0:
		return h
	default:
		return h + " " + plural.Of(int(d%time.Hour/time.Minute), "minute")
	}
}

// sentences are the messages for each kind of error; their arguments are the model and
// the server's text.
var sentences = [...]string{
	llm.Temporary:     "%s failed to answer: %s. Try again in a while.",
	llm.Unauthorized:  "%s refused the API key: %s. Check the key, and that it is meant for this provider.",
	llm.NotFound:      "%s was not found: %s. Check the model's name and the base URL; most end in /v1.",
	llm.TooLong:       "The conversation is too long for %s: %s.",
	llm.Refused:       "%s did not accept the request: %s.",
	llm.QuotaExceeded: "Your %s account is out of credit: %s. Check its billing, or choose another model.",
}
