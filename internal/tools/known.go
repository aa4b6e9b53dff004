package tools

import (
	"slices"
	"strings"
)

// facts has our tools. A name of several is, in a definition, that of the first.
var facts = []*Facts{
	&readFileFacts, &listFilesFacts, &findFilesFacts, &searchFilesFacts,
	&editFileFacts, &writeFileFacts, &editLinesFacts, &appendFileFacts, &regexReplaceFacts, &patchFacts, &applyPatchFacts, &deleteFileFacts, &moveFileFacts,
	&executeCommandFacts, &getDiagnosticsFacts, &todoFacts, &presentPlanFacts, &askUserFacts, &webFetchFacts, &rememberFacts, &taskFacts, &toolSearchFacts,
	&findDefinitionFacts, &findReferencesFacts, &listSymbolsFacts, &renameSymbolFacts, &quickFixFacts,
}

// FactsOf returns the facts of a tool; those of a server's tool are its name and KindOther.
func FactsOf(name string) Facts {
	i := slices.IndexFunc(facts, func(f *Facts) bool { return f.Name == name })
	if i < 0 {
		return Facts{Name: name, Hook: name, Kind: KindOther}
	}
	f := *facts[i]
	if f.Hook == "" {
		f.Hook = name
	}
	return f
}

// ChangesFiles reports whether the tool with the given name is one of those that change
// files.
func ChangesFiles(name string) bool { return FactsOf(name).Kind.changes() }

// Delegates reports whether the calls of the tool with the given name are the work of sub-agents.
func Delegates(name string) bool { return name == taskFacts.Name }

// Helpers returns the tools of a sub-agent whose definition lists none.
func Helpers() (names []string) {
	for _, f := range facts {
		if f.Helper {
			names = append(names, f.Name)
		}
	}
	return names
}

// AllNames returns all names of our tools.
func AllNames() (names []string) {
	for _, f := range facts {
		names = append(append(names, f.Name), f.Names...)
	}
	return names
}

// Ours returns our tool with a name in a definition, in any case; "" for none.
func Ours(name string) string {
	same := func(other string) bool { return name != "" && strings.EqualFold(other, name) }
	return firstNamed(
		func(f *Facts) bool { return f.Name == name },
		func(f *Facts) bool { return same(f.Hook) },
		func(f *Facts) bool { return slices.ContainsFunc(f.Names, same) },
	)
}

// meant returns our tool that a model means which calls another agent's; "" for none. Such a
// call is not made: a key that both have may mean something else.
func meant(name string) string {
	name = strings.ToLower(strings.ReplaceAll(name, "_", ""))
	return firstNamed(
		func(f *Facts) bool { return f.Hook != "" && strings.ToLower(f.Hook) == name },
		func(f *Facts) bool { return slices.Contains(f.Mistaken, name) },
	)
}

// firstNamed returns the first tool for which the first of these functions is true, that is for any.
func firstNamed(by ...func(*Facts) bool) string {
	for _, is := range by {
		if i := slices.IndexFunc(facts, is); i >= 0 {
			return facts[i].Name
		}
	}
	return ""
}

// Cover reports whether a list has the name of a tool. A * at the end of an entry is for any rest.
func Cover(list []string, name string) bool {
	return slices.ContainsFunc(list, func(entry string) bool {
		begin, more := strings.CutSuffix(entry, "*")
		return entry == name || more && strings.HasPrefix(name, begin)
	})
}
