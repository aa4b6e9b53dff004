package allowedservers

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/bb2d0cf4/agent/internal/app/keystore"
	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/llm/remote"
	"github.com/bb2d0cf4/agent/internal/peer"
)

// unknown is the user of a program if the system does not tell.
const unknown peer.User = "?"

func name(u peer.User) string {
	if u == unknown {
		return "an unknown user"
	}
	return "the user " + u.Name()
}

// Question is a permission to ask a person for. Its texts are not sanitized.
type Question struct {
	Entry
	Title string
	Text  []string
	Why   string // one sentence, for use when nobody can be asked
}

// UnaskedError reports a permission that is missing.
type UnaskedError struct {
	Question
	model string // to name in the command that allows it; "" if that finds it
}

func (e *UnaskedError) Error() string {
	return fmt.Sprintf("%s. %s shows it and allows it", e.Why, e.Command())
}

// Command returns the command that shows and allows it.
func (e *UnaskedError) Command() string {
	command := "agent trust add " + e.Address
	if e.model != "" {
		command += " --model " + e.model
	}
	return command
}

// Permit returns an *UnaskedError if a request to m needs a permission that is missing.
func (s Store) Permit(m config.Model) error {
	questions, err := s.Unasked(m)
	if err == nil && len(questions) > 0 {
		unasked := &UnaskedError{Question: questions[0]}
		if m.Elsewhere {
			unasked.model = m.Ref
		}
		err = unasked
	}
	return err
}

// Unasked lists the permissions that a request to m still needs: for its server, and
// for a proxy in between.
func (s Store) Unasked(m config.Model) ([]Question, error) {
	if m.Provider == config.ScriptProvider {
		return nil, nil
	}
	server, err := s.server(m)
	if err != nil {
		return nil, err
	}
	proxy, err := s.Proxy(m.Endpoint.BaseURL)
	return append(server, proxy...), err
}

// Reachable returns the usual addresses of m's server at which a request needs no further
// permission: no other user listens there, and no unknown proxy is in between.
func (s Store) Reachable(m config.Model) (addresses []string) {
	for _, address := range m.Usual() {
		m.Endpoint.BaseURL = address
		if s.Permit(m) == nil {
			addresses = append(addresses, address)
		}
	}
	return addresses
}

func (s Store) server(m config.Model) ([]Question, error) {
	q := Question{Entry: Entry{Address: plain(m.Endpoint.BaseURL), Provider: m.Provider, User: Stranger(m.Endpoint.BaseURL)}}
	from := m.From
	if u, err := url.Parse(m.Endpoint.BaseURL); err == nil && m.FromPair && peer.IsLoopback(u.Hostname()) {
		from = "" // any program of this user can read a key of the shell
	}
	if from != "" && secrets(m) == "" && keystore.Open(s.home).Has(m.Endpoint.BaseURL) {
		from = "" // it gets only the key that was entered for this address
	}
	if from == "" && q.User == "" {
		return nil, nil
	}
	if known, err := s.has(q.Entry); known || err != nil {
		return nil, err
	}
	q.Title = "Use this model server?"
	q.Text = []string{remote.Shown(m.Endpoint.BaseURL), ""}
	gets := "your prompts and what the model reads" + secrets(m)
	q.Why = q.Address + " would get " + gets
	if from != "" {
		q.Text = append(q.Text, "The address comes from "+from+".")
		q.Why += ", but it comes from " + from
	}
	if q.User != "" {
		q.Text = append(q.Text, "The program that answers there is run by "+name(q.User)+" of this machine, not by you.")
		q.Why += ", but it is run by " + name(q.User) + " of this machine"
	}
	q.Text = append(q.Text, "It would get "+gets+".")
	q.Why += ", and you have not allowed that yet"
	return []Question{q}, nil
}

// secrets names the secrets that a request sends to m's server.
func secrets(m config.Model) string {
	var list []string
	switch e := m.Endpoint; {
	case len(e.APIKeyCommand) > 0:
		list = append(list, "the key that "+e.APIKeyCommand[0]+" prints")
	case e.APIKeyEnv != "" && os.Getenv(e.APIKeyEnv) != "":
		list = append(list, "the key in "+e.APIKeyEnv)
	}
	if len(m.Endpoint.Headers) > 0 {
		list = append(list, "the headers of providers."+m.Provider)
	}
	if len(list) == 0 {
		return ""
	}
	return ", with " + strings.Join(list, " and ")
}

// Proxy returns a question if requests to an address go through a proxy that was not
// allowed yet.
func (s Store) Proxy(address string) ([]Question, error) {
	to, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("the address of the model's server cannot be read: %w", err)
	}
	via, err := peer.Proxy(&http.Request{URL: to})
	if err != nil {
		return nil, fmt.Errorf("the proxy in the environment cannot be used: %w", err)
	}
	if via == nil {
		return nil, nil
	}
	q := Question{Entry: Entry{Address: via.Scheme + "://" + via.Host, User: Stranger(via.String())}}
	if known, err := s.has(q.Entry); known || err != nil {
		return nil, err
	}
	from := peer.ProxyVariable(to.Scheme)
	q.Title = "Connect through this proxy?"
	q.Text = []string{q.Address, "", "It comes from " + from + " in the environment. Everything for " + to.Host + " would go through it."}
	q.Why = fmt.Sprintf("the proxy %s comes from %s in the environment, and you have not allowed that yet", q.Address, from)
	if q.User != "" {
		q.Text = append(q.Text, "It is run by "+name(q.User)+" of this machine, not by you.")
	}
	return []Question{q}, nil
}

// has reports whether an entry is allowed.
func (s Store) has(e Entry) (bool, error) {
	all, err := s.List()
	return slices.ContainsFunc(all, func(known Entry) bool {
		return known.Address == e.Address && known.Provider == e.Provider && (e.User == "" || known.User == e.User)
	}), err
}

// Stranger returns the other user of this machine who listens at an address, or "" if
// it is nobody, the system, or the user of this program.
func Stranger(address string) peer.User {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	host, own := onThisMachine(u)
	port, err := strconv.ParseUint(portOf(u), 10, 16)
	if !own || err != nil {
		return ""
	}
	users, err := peer.Listener(netip.AddrPortFrom(host, uint16(port)))
	switch {
	case errors.Is(err, peer.ErrNobody):
		return ""
	case err != nil:
		return unknown
	}
	for _, u := range users {
		if !ours(u) {
			return u
		}
	}
	return ""
}

// onThisMachine returns the address that u names, and whether it is one of this machine's
// own. Other names than localhost are not looked up: Check sees where they lead.
func onThisMachine(u *url.URL) (host netip.Addr, own bool) {
	if peer.IsLoopback(u.Hostname()) {
		return netip.IPv6Loopback(), true // all loopback addresses count as one
	}
	host, err := netip.ParseAddr(u.Hostname())
	if err != nil {
		return host, false
	}
	own, err = peer.IsOwn(host)
	return host, own && err == nil
}

func ours(u peer.User) bool { return u == peer.Self() || u.IsSystem() }

// Check rejects a connection to another user's program on this machine, unless a person
// allowed that user there. A port may change hands between two requests.
func (s Store) Check(conn net.Conn) error {
	remote, tcp := conn.RemoteAddr().(*net.TCPAddr)
	if !tcp {
		return nil
	}
	at := remote.AddrPort()
	local, _ := conn.LocalAddr().(*net.TCPAddr)
	if own, err := peer.IsOwn(at.Addr()); (!own || err != nil) && !(local != nil && local.IP.Equal(remote.IP)) {
		return nil // on another machine
	}
	u, err := peer.Of(conn)
	if err != nil {
		u = unknown
	}
	if ours(u) {
		return nil
	}
	all, err := s.List()
	if err != nil {
		return err
	}
	if slices.ContainsFunc(all, func(e Entry) bool { return e.User == u && e.isAt(at.Port()) }) {
		return nil
	}
	return &llm.Error{Kind: llm.Refused, Message: fmt.Sprintf(
		"The program at %s is run by %s of this machine, not by you. Nothing was sent to it. If you trust it, run: agent trust add ADDRESS", at, name(u))}
}

// isAt reports whether the entry is for a port of this machine.
func (e Entry) isAt(port uint16) bool {
	u, err := url.Parse(e.Address)
	if err != nil || portOf(u) != strconv.Itoa(int(port)) {
		return false
	}
	_, own := onThisMachine(u)
	return own
}

func portOf(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case u.Scheme == "https":
		return "443"
	}
	return "80"
}

// plain returns an address without the user name and password.
func plain(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return remote.Shown(address)
	}
	u.User = nil
	return strings.TrimRight(u.String(), "/")
}

// OfMCP returns the question about another user's program at the address of an MCP
// server; ok is false if no server needs one.
func OfMCP(cfg config.Config, address string) (q Question, ok bool) {
	want := strings.TrimSuffix(address, "/")
	for _, name := range slices.Sorted(maps.Keys(cfg.MCP)) {
		at := cfg.MCP[name].URL
		if at != want && !strings.HasPrefix(at, want+"/") {
			continue
		}
		if user := Stranger(at); user != "" {
			return Question{
				Entry: Entry{Address: at, Provider: "mcp." + name, User: user},
				Title: "Use this MCP server?",
				Text:  []string{fmt.Sprintf("The program at %s is run by another user of this machine. It would get the token and the headers of the MCP server %s.", at, name)},
			}, true
		}
	}
	return q, false
}
