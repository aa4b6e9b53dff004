package allowedservers

import (
	"cmp"
	"context"
	"path/filepath"

	"github.com/bb2d0cf4/agent/internal/peer"
	"github.com/bb2d0cf4/agent/internal/statefile"
)

// File is the name of the file in the agent's own folder.
const File = "servers.json"

// Entry is a server or proxy that a person allowed.
type Entry struct {
	Address string `json:"address"`
	// Provider is the provider whose key and headers are sent there, empty for a proxy.
	Provider string `json:"provider,omitzero"`
	// User runs the program at an address of this machine. It is empty for the agent's
	// own user and for the system.
	User peer.User `json:"user,omitzero"`
}

// String returns the entry as a line of a list.
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

// Is reports whether the entry is for an address, with or without a slash at its end.
func (e Entry) Is(address string) bool { return e.Address == plain(address) }

// Store holds the entries in the agent's own folder.
type Store struct{ home string }

// Open returns the Store in the agent's own folder, without reading it.
func Open(home string) Store { return Store{home} }

func (s Store) entries() statefile.List[Entry] {
	return statefile.List[Entry]{
		JSON: statefile.JSON[[]Entry]{
			Path: filepath.Join(s.home, File), Name: "allowed servers", Malformed: "no server is allowed; delete it to be asked again",
		},
		Compare: func(a, b Entry) int {
			return cmp.Or(cmp.Compare(a.Address, b.Address), cmp.Compare(a.Provider, b.Provider))
		},
	}
}

// List returns all entries, sorted.
func (s Store) List() ([]Entry, error) { return s.entries().Read() }

// Allow stores an entry, replacing the one for the same address and provider.
func (s Store) Allow(ctx context.Context, e Entry) error {
	return s.entries().Put(ctx, e, func(old Entry) bool { return old.Address == e.Address && old.Provider == e.Provider })
}

// Remove deletes an address. It returns false if it had no entry.
func (s Store) Remove(ctx context.Context, address string) (was bool, err error) {
	return s.entries().Delete(ctx, func(old Entry) bool { return old.Is(address) })
}
