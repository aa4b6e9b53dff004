// Package servers keeps which model servers and proxies a person has allowed. It
// guarantees that an address which does not come from the person's own file or command
// line, a proxy, and a program of another user on this machine get nothing before a
// person has seen and allowed them.
package servers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/bb2d0cf4/agent/internal/peer"
	"github.com/bb2d0cf4/agent/internal/statefile"
)

// File is the name of the file in the agent's own folder.
const File = "servers.json"

// Entry is one server or proxy that a person has allowed.
type Entry struct {
	Address string `json:"address"`
	// Provider is the provider whose key and headers go there; empty for a proxy.
	Provider string `json:"provider,omitzero"`
	// User runs the program at an address of this machine; empty for the user of the
	// agent, and for the system.
	User peer.User `json:"user,omitzero"`
}

// String is the entry as a list shows it.
func (e Entry) String() string {
	line := "server   " + e.Address + "  (for the provider " + e.Provider + ")"
	if e.Provider == "" {
		line = "proxy    " + e.Address
	}
	if e.User != "" {
		line += "  (run by " + name(e.User) + ")"
	}
	return line
}

// Is says whether the entry is about an address, however its end is written.
func (e Entry) Is(address string) bool { return e.Address == plain(address) }

// Store keeps the entries in the agent's own folder.
type Store struct{ home string }

// Open returns the Store in the agent's own folder. It reads nothing yet.
func Open(home string) Store { return Store{home} }

func (s Store) file() string { return filepath.Join(s.home, File) }

func (s Store) entries() statefile.JSON[[]Entry] { return statefile.JSON[[]Entry]{Path: s.file()} }

// List returns all entries, sorted.
func (s Store) List() ([]Entry, error) {
	all, err := s.entries().Read()
	return all, s.explain(err)
}

// explain adds to an error of the file what it means for the person.
func (s Store) explain(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, statefile.ErrMalformed):
		return fmt.Errorf("%s: %w, so no server is allowed; delete it to be asked again", s.file(), err)
	}
	return fmt.Errorf("allowed servers: %w", err)
}

// Allow keeps an entry, in the place of one for the same address and provider.
func (s Store) Allow(ctx context.Context, e Entry) error {
	return s.change(ctx, func(all []Entry) []Entry {
		all = slices.DeleteFunc(all, func(old Entry) bool { return old.Address == e.Address && old.Provider == e.Provider })
		return append(all, e)
	})
}

// Remove forgets an address. It returns false if there was no entry for it.
func (s Store) Remove(ctx context.Context, address string) (was bool, err error) {
	err = s.change(ctx, func(all []Entry) []Entry {
		return slices.DeleteFunc(all, func(old Entry) bool {
			gone := old.Is(address)
			was = was || gone
			return gone
		})
	})
	return was, err
}

// change replaces the entries by what f makes of them.
func (s Store) change(ctx context.Context, f func([]Entry) []Entry) error {
	return s.explain(s.entries().Change(ctx, func(all []Entry) []Entry {
		all = f(all)
		slices.SortFunc(all, func(a, b Entry) int {
			return cmp.Or(cmp.Compare(a.Address, b.Address), cmp.Compare(a.Provider, b.Provider))
		})
		return all
	}))
}
