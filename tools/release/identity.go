package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"reflect"
	"regexp"
	"strings"
)

// identityFile has the names under which the program is published.
const identityFile = "identity.json"

// identity is the content of identityFile. In other files, a name has one of the
// forms in forms.
type identity struct {
	Module     string `json:"module"`     // the path of the Go module
	Repository string `json:"repository"` // its address on GitHub
	Publisher  string `json:"publisher"`  // in the marketplaces of VS Code, and for winget
	NPM        string `json:"npm"`        // the package with the program, in a scope
	Maintainer string `json:"maintainer"` // of deb and rpm packages
}

// valid has the form of each name.
var valid = map[string]*regexp.Regexp{
	"module":     regexp.MustCompile(`^[a-z0-9.-]+\.[a-z]+(/[A-Za-z0-9._-]+)+$`),
	"repository": regexp.MustCompile(`^https://github\.com/[A-Za-z0-9-]+/[A-Za-z0-9._-]+$`),
	"publisher":  regexp.MustCompile(`^[A-Za-z0-9-]+$`),
	"npm":        regexp.MustCompile(`^@[a-z0-9-]+/[a-z0-9-]+$`),
	"maintainer": regexp.MustCompile(`^[^<>"']+ <[^<>@"' ]+@[^<>@"' ]+>$`),
}

func loadIdentity() (id identity, err error) {
	data, err := os.ReadFile(identityFile)
	if err == nil {
		err = json.Unmarshal(data, &id)
	}
	if err != nil {
		return id, fmt.Errorf("read %s: %w", identityFile, err)
	}
	return id, id.check()
}

// names calls f with the name and value of each field.
func (id *identity) names(f func(name string, value reflect.Value)) {
	v := reflect.ValueOf(id).Elem()
	for i := range v.NumField() {
		f(v.Type().Field(i).Tag.Get("json"), v.Field(i))
	}
}

func (id *identity) check() (err error) {
	id.names(func(name string, value reflect.Value) {
		if !valid[name].MatchString(value.String()) {
			err = errors.Join(err, fmt.Errorf("the %s %q does not match %s", name, value.String(), valid[name]))
		}
	})
	return err
}

// owner returns the account of the repository and the repository's name.
func (id *identity) owner() (account, name string) {
	rest := strings.TrimPrefix(id.Repository, "https://github.com/")
	return path.Dir(rest), path.Base(rest)
}

// forms lists how the names stand in files, those first that contain others. A bare publisher
// would also be found inside of other words.
func (id *identity) forms() []string {
	return []string{
		id.Repository,
		id.Module,
		id.Publisher + ".agent-ide", // the extension's ID
		`"publisher": "` + id.Publisher + `"`,
		`Publisher="` + id.Publisher + `"`,
	}
}

// set changes names in identityFile and wherever else they stand in the tree.
func set(assignments []string) error {
	old, err := loadIdentity()
	if err != nil {
		return err
	}
	id, unknown := old, map[string]bool{}
	for _, a := range assignments {
		name, value, ok := strings.Cut(a, "=")
		if unknown[name] = true; !ok {
			return fmt.Errorf("%q is not of the form NAME=VALUE", a)
		}
		id.names(func(field string, v reflect.Value) {
			if field == name {
				v.SetString(value)
				delete(unknown, name)
			}
		})
	}
	for name := range unknown {
		return fmt.Errorf("%s has no name %q", identityFile, name)
	}
	if err := id.check(); err != nil {
		return err
	}
	files, err := output("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	if err != nil {
		return err
	}
	data, err := json.MarshalIndent(id, "", "  ")
	if err != nil {
		return err
	}
	rewrite := old.replacer(id)
	for file := range strings.SplitSeq(strings.Trim(files, "\x00"), "\x00") {
		if err := rewriteFile(file, rewrite); err != nil {
			return err
		}
	}
	// Afterwards: it is one of the files. MarshalIndent escapes the brackets of an address.
	text := strings.NewReplacer(`\u003c`, "<", `\u003e`, ">").Replace(string(data))
	return os.WriteFile(identityFile, []byte(text+"\n"), 0o644)
}

// replacer returns a replacer of the forms of id by those of next.
func (id *identity) replacer(next identity) *strings.Replacer {
	var pairs []string
	for i, form := range id.forms() {
		pairs = append(pairs, form, next.forms()[i])
	}
	return strings.NewReplacer(pairs...)
}

func rewriteFile(file string, rewrite *strings.Replacer) error {
	info, err := os.Lstat(file)
	if errors.Is(err, os.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return nil // removed but not yet committed, or a link
	}
	if err != nil {
		return err
	}
	before, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	after := rewrite.Replace(string(before))
	if after == string(before) {
		return nil
	}
	return os.WriteFile(file, []byte(after), info.Mode().Perm())
}

var versionLine = regexp.MustCompile(`(?m)^const version = "(.+)"$`)

// version returns the version that the program's source has.
func version() (string, error) {
	data, err := os.ReadFile("cmd/agent/main.go")
	if err != nil {
		return "", err
	}
	match := versionLine.FindSubmatch(data)
	if match == nil {
		return "", errors.New("cmd/agent/main.go has no line with the version")
	}
	return string(match[1]), nil
}

// printEnv prints assignments for a shell. The patterns in valid allow no apostrophe.
func printEnv() error {
	id, err := loadIdentity()
	if err != nil {
		return err
	}
	v, err := version()
	if err != nil {
		return err
	}
	account, name := id.owner()
	_, err = fmt.Fprintf(os.Stdout, "AGENT_RELEASE_VERSION='%s'\nAGENT_RELEASE_REPOSITORY='%s'\nAGENT_RELEASE_OWNER='%s'\nAGENT_RELEASE_NAME='%s'\nAGENT_RELEASE_PUBLISHER='%s'\nAGENT_RELEASE_MAINTAINER='%s'\n",
		v, id.Repository, account, name, id.Publisher, id.Maintainer)
	return err
}
