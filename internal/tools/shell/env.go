package shell

import "strings"

// Variables that a command does not inherit: they would run code of someone
// else's choosing before or instead of the command, send git or ripgrep to
// other files, or make output unfit for reading.
var (
	droppedNames = map[string]bool{
		"BASH_ENV": true, "ENV": true, "PROMPT_COMMAND": true, "PS4": true, "ZDOTDIR": true,
		"SHELLOPTS": true, "BASHOPTS": true, "CDPATH": true, "GLOBIGNORE": true,
		"RIPGREP_CONFIG_PATH": true, "FORCE_COLOR": true, "CLICOLOR_FORCE": true,
		"GIT_ASKPASS": true, "SSH_ASKPASS": true, markName: true,
	}
	droppedPrefixes = []string{"LD_", "DYLD_", "GIT_", "BASH_FUNC_"}
	// keptNames are exceptions to the prefixes: who commits.
	keptNames = map[string]bool{
		"GIT_AUTHOR_NAME": true, "GIT_AUTHOR_EMAIL": true, "GIT_AUTHOR_DATE": true,
		"GIT_COMMITTER_NAME": true, "GIT_COMMITTER_EMAIL": true, "GIT_COMMITTER_DATE": true,
	}
	// keyNames hold keys to language models under the names that their makers
	// document. Other secrets (of a package registry, of a cloud) stay: the user's
	// commands may need them.
	keyNames = map[string]bool{
		"OPENAI_API_KEY": true, "OPENAI_ORG_ID": true, "OPENAI_PROJECT_ID": true,
		"OPENROUTER_API_KEY": true, "ANTHROPIC_API_KEY": true, "AZURE_OPENAI_API_KEY": true,
		"GEMINI_API_KEY": true, "GOOGLE_API_KEY": true, "MISTRAL_API_KEY": true, "GROQ_API_KEY": true,
		"DEEPSEEK_API_KEY": true, "XAI_API_KEY": true, "TOGETHER_API_KEY": true,
		"FIREWORKS_API_KEY": true, "CEREBRAS_API_KEY": true,
	}
	// added keeps a command from waiting for a person: no pager, no editor, no
	// question about a password, no cursor addressing.
	added = []string{
		"PAGER=cat", "GIT_PAGER=cat", "MANPAGER=cat", "EDITOR=false", "VISUAL=false", "GIT_EDITOR=false",
		"GIT_TERMINAL_PROMPT=0", "SSH_ASKPASS_REQUIRE=never", "DEBIAN_FRONTEND=noninteractive", "TERM=dumb",
	}
)

// minSecret is the length from which a value is looked for inside other values;
// a shorter one would be found by chance.
const minSecret = 8

// Environ returns base without what a command must not see or be steered by,
// and with what keeps it from waiting for a person. secrets names the variables
// that hold keys, beside those that are known; a variable of any name whose
// value contains one of their values is removed too. base is not changed; PATH
// stays as it is.
func Environ(base []string, secrets []string) []string {
	hidden := map[string]bool{}
	for _, name := range secrets {
		hidden[name] = true
	}
	var keys []string
	for _, kv := range base {
		name, value, _ := strings.Cut(kv, "=")
		if (hidden[name] || isKey(name)) && len(value) >= minSecret {
			keys = append(keys, value)
		}
	}
	replaced := map[string]bool{}
	for _, kv := range added {
		name, _, _ := strings.Cut(kv, "=")
		replaced[name] = true
	}
	env := make([]string, 0, len(base)+len(added))
	for _, kv := range base {
		name, value, _ := strings.Cut(kv, "=")
		if !hidden[name] && !replaced[name] && !isDropped(name) && !containsAny(value, keys) {
			env = append(env, kv)
		}
	}
	return append(env, added...)
}

func isDropped(name string) bool {
	if droppedNames[name] || isKey(name) {
		return true
	}
	for _, prefix := range droppedPrefixes {
		if strings.HasPrefix(name, prefix) && !keptNames[name] {
			return true
		}
	}
	return false
}

// isKey says whether a variable holds the key that this program would use: the
// program's own settings come in AGENT_ variables.
func isKey(name string) bool {
	return keyNames[name] || strings.HasPrefix(name, "AGENT_") && strings.HasSuffix(name, "_KEY")
}

func containsAny(value string, keys []string) bool {
	for _, key := range keys {
		if strings.Contains(value, key) {
			return true
		}
	}
	return false
}
