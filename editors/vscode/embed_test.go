package vscode

import (
	"errors"
	"testing"
	"testing/fstest"
)

func TestPackage(t *testing.T) {
	if _, err := packageFrom(fstest.MapFS{"dist/.gitkeep": {}}); !errors.Is(err, ErrNotBuilt) {
		t.Errorf("without the file: %v, want ErrNotBuilt", err)
	}
	got, err := packageFrom(fstest.MapFS{"dist/agent.vsix": {Data: []byte("PK")}})
	if err != nil || string(got) != "PK" {
		t.Errorf("with the file: %q, %v", got, err)
	}
}

// What is embedded is a zip file or is said to be absent; nothing in between.
func TestEmbedded(t *testing.T) {
	got, err := Package()
	if errors.Is(err, ErrNotBuilt) {
		return
	}
	if err != nil || len(got) < 4 || string(got[:4]) != "PK\x03\x04" {
		t.Errorf("the embedded package is no zip file (%d bytes, %v)", len(got), err)
	}
}
