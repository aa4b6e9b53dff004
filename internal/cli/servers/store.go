// Package servers keeps which model servers and proxies a person has allowed. It
// guarantees that an address which does not come from the person's own file or command
// line, a proxy, and a program of another user on this machine get nothing before a
// person has seen and allowed them.
package servers

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
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

// List returns all entries, sorted.
func (s Store) List() ([]Entry, error) {
	data, err := os.ReadFile(s.file())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read which servers are allowed: %w", err)
	}
	var all []Entry
	if err := json.Unmarshal(data, &all); err != nil {
		return nil, fmt.Errorf("%s cannot be read, so no server is allowed: %w; delete it to be asked again", s.file(), err)
	}
	return all, nil
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

// change replaces the entries; of two processes that do so, neither loses the other's.
func (s Store) change(ctx context.Context, f func([]Entry) []Entry) (err error) {
	lock, err := statefile.Acquire(ctx, s.file()+".lock")
	if err != nil {
		return fmt.Errorf("lock which servers are allowed: %w", err)
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	all, err := s.List()
	if err != nil {
		return err
	}
	all = f(all)
	slices.SortFunc(all, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(a.Address, b.Address), cmp.Compare(a.Provider, b.Provider))
	})
	data, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	return statefile.Write(s.file(), append(data, '\n'))
}
