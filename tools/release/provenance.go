package main

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
)

// statement is an in-toto statement with SLSA provenance, version 1. It is not signed.
type statement struct {
	Type          string    `json:"_type"`
	Subject       []subject `json:"subject"`
	PredicateType string    `json:"predicateType"`
	Predicate     predicate `json:"predicate"`
}

type subject struct {
	Name   string            `json:"name,omitempty"`
	URI    string            `json:"uri,omitempty"`
	Digest map[string]string `json:"digest"`
}

type predicate struct {
	Definition struct {
		BuildType string            `json:"buildType"`
		External  map[string]string `json:"externalParameters"`
		Internal  map[string]string `json:"internalParameters"`
		Resolved  []subject         `json:"resolvedDependencies"`
	} `json:"buildDefinition"`
	Details struct {
		Builder struct {
			ID string `json:"id"`
		} `json:"builder"`
	} `json:"runDetails"`
}

var sumLine = regexp.MustCompile(`^([0-9a-f]{64})  (\S+)$`)

// subjects returns the files that a list of sums names.
func subjects(sums string) (all []subject, err error) {
	for line := range strings.Lines(sums) {
		match := sumLine.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		if match == nil {
			return nil, fmt.Errorf("%q is not a sum and a file", line)
		}
		all = append(all, subject{Name: match[2], Digest: map[string]string{"sha256": match[1]}})
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no sums")
	}
	return all, nil
}

// writeProvenance writes from which commit and with which programs the files in sums were built.
func writeProvenance(sums, file string) error {
	data, err := os.ReadFile(sums)
	if err != nil {
		return err
	}
	id, err := loadIdentity()
	if err != nil {
		return err
	}
	v, err := version()
	if err != nil {
		return err
	}
	commit, err := output("git", "rev-parse", "HEAD")
	if err != nil {
		return err
	}
	goVersion, err := output("go", "env", "GOVERSION")
	if err != nil {
		return err
	}
	s := statement{Type: "https://in-toto.io/Statement/v1", PredicateType: "https://slsa.dev/provenance/v1"}
	if s.Subject, err = subjects(string(data)); err != nil {
		return fmt.Errorf("read %s: %w", sums, err)
	}
	at := id.Repository + "/blob/v" + v
	p := &s.Predicate
	p.Definition.BuildType = at + "/docs/releasing.md"
	p.Definition.External = map[string]string{"repository": id.Repository, "ref": "refs/tags/v" + v}
	p.Definition.Internal = map[string]string{"go": goVersion, "goreleaser": os.Getenv("AGENT_RELEASE_GORELEASER"), "CGO_ENABLED": "0"}
	p.Definition.Resolved = []subject{{URI: "git+" + id.Repository + "@refs/tags/v" + v, Digest: map[string]string{"gitCommit": commit}}}
	p.Details.Builder.ID = at + "/scripts/release.sh"
	out, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(out, '\n'), 0o644)
}
