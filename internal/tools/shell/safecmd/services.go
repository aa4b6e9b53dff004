package safecmd

import (
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/lazyregexp"
)

// Reasons for commands whose effect is not in a folder of this machine.
const (
	removesElsewhere = "it removes resources that are not files here, such as those of a cloud or a cluster"
	publishes        = "it publishes a version, which is hard to take back"
	dropsData        = "it removes data from a database"
	dropsChanges     = "it drops changes that were not committed"
	removesPrograms  = "it removes programs"
)

// Dangers of several programs.
var (
	forge          = naming(removesElsewhere, "delete", "DELETE", "-XDELETE", "--method=DELETE")
	infrastructure = naming(removesElsewhere, "destroy", "-destroy*", "--destroy*", "-auto-approve*", "--auto-approve*")
	registry       = naming(publishes, "publish", "unpublish", "deprecate")
	schema         = naming(dropsData, "db:drop*", "db:purge*", "db:reset*", "db:truncate*")
)

// services maps programs that change clouds, registries, containers, databases and installed
// programs to their dangers. The undo of this program reaches none of these.
var services = map[string]danger{
	"aws": naming(removesElsewhere, "rm", "rb", "--delete", "delete-*", "terminate-*", "deregister-*", "purge-*"), "az": naming(removesElsewhere, "delete", "purge"), "doctl": naming(removesElsewhere, "delete"),
	"fly": naming(removesElsewhere, "destroy"), "flyctl": naming(removesElsewhere, "destroy"), "gcloud": naming(removesElsewhere, "delete"), "gsutil": naming(removesElsewhere, "rm", "rb"),
	"heroku": naming(removesElsewhere, "*:destroy", "*:delete", "*:reset"), "helm": naming(removesElsewhere, "uninstall", "delete", "del", "un"), "kubectl": naming(removesElsewhere, "delete", "drain"),
	"gh": forge, "glab": forge, "pulumi": naming(removesElsewhere, "destroy"), "terraform": infrastructure, "tofu": infrastructure,

	"docker": containers, "docker-compose": containers, "podman": containers,

	"cargo": naming(publishes, "publish", "yank"), "flit": naming(publishes, "publish"), "gem": naming(publishes, "push", "yank"), "hatch": naming(publishes, "publish"), "npm": registry,
	"pnpm": registry, "poetry": naming(publishes, "publish"), "twine": naming(publishes, "upload"), "uv": naming(publishes, "publish"), "yarn": naming(publishes, "publish"), "vsce": naming(publishes, "publish", "unpublish"),

	"alembic": naming(dropsData, "downgrade"), "flyway": naming(dropsData, "clean"), "prisma": naming(dropsData, "reset", "--accept-data-loss", "--force-reset"), "rails": schema, "rake": schema, "supabase": naming(dropsData, "delete", "reset"),

	"hg": naming(dropsChanges, "purge", "revert", "strip"), "svn": naming(dropsChanges, "revert"),

	"dropdb": always(dropsData), "dropuser": always(dropsData), "redis-cli": statement, "valkey-cli": statement,
	"clickhouse-client": statement, "duckdb": statement, "mariadb": statement, "mongo": statement, "mongosh": statement, "mysql": statement, "psql": statement, "sqlite3": statement,

	"apt": naming(removesPrograms, "autoremove", "purge", "remove"), "apt-get": naming(removesPrograms, "autoremove", "purge", "remove"), "brew": naming(removesPrograms, "remove", "rm", "uninstall"),
	"dnf": naming(removesPrograms, "autoremove", "erase", "remove"), "dpkg": naming(removesPrograms, "-P", "-r", "--purge", "--remove"), "yum": naming(removesPrograms, "autoremove", "erase", "remove"),

	"firewall-cmd": always("it changes the system"), "ufw": always("it changes the system"),
	"gpg": naming("it removes keys", "--delete-*"), "gpg2": naming("it removes keys", "--delete-*"),
	"nc": naming("it gives others a shell", "-e", "-c"), "ncat": naming("it gives others a shell", "-e", "-c", "--exec", "--sh-exec"), "netcat": naming("it gives others a shell", "-e", "-c"), "socat": naming("it gives others a shell", "EXEC:*", "SYSTEM:*", "exec:*", "system:*"),
}

// naming returns a danger for a program that is given one of some words. A word may begin or
// end with *, for any text.
func naming(why string, words ...string) danger {
	return func(args []string) string {
		named := 0 // words that are known, and no options: commands of the program come first
		for i, arg := range args {
			if slices.ContainsFunc(words, func(w string) bool { return fits(w, arg) }) {
				return why
			}
			if i < 3 && named < 2 && slices.ContainsFunc(words, func(w string) bool { return mayFit(w, arg) }) {
				return hiddenWords
			}
			if !unknown(arg) && !strings.HasPrefix(arg, "-") {
				named++
			}
		}
		return ""
	}
}

// mayFit reports whether an argument with unknown text may be one for a word of naming.
func mayFit(word, arg string) bool {
	start, rest, ok := strings.Cut(arg, unknownText)
	end := rest[strings.LastIndex(rest, unknownText)+1:]
	if !ok {
		return false
	}
	known, prefix := strings.CutSuffix(word, "*")
	known, suffix := strings.CutPrefix(known, "*")
	begins := suffix || strings.HasPrefix(known, start) || prefix && strings.HasPrefix(start, known)
	ends := prefix || strings.HasSuffix(known, end) || suffix && strings.HasSuffix(end, known)
	return begins && ends
}

// fits reports whether a word of naming is for an argument.
func fits(word, arg string) bool {
	if start, ok := strings.CutSuffix(word, "*"); ok {
		return strings.HasPrefix(arg, start)
	}
	if end, ok := strings.CutPrefix(word, "*"); ok {
		return strings.HasSuffix(arg, end)
	}
	return word == arg
}

// containers judges docker and its like.
func containers(args []string) string {
	if slices.Contains(args, "down") && slices.ContainsFunc(args, func(s string) bool { return short(s, "v") || s == "--volumes" }) {
		return removesElsewhere
	}
	if i := slices.Index(args, "volume"); i >= 0 && i+1 < len(args) && args[i+1] == "rm" {
		return removesElsewhere
	}
	if why := naming(removesElsewhere, "prune")(args); why != "" {
		return why
	}
	return naming(publishes, "push")(args)
}

// drops matches statements that remove data.
var drops = lazyregexp.New(`(?i)\b(drop\s+(database|schema|table|user|view|index|collection|role)|truncate\s|delete\s+from|flushall|flushdb|dropDatabase|deleteMany|deleteOne|remove\s*\()|\.drop\(`)

// statement judges clients of databases by the statements in their arguments.
func statement(args []string) string {
	if slices.ContainsFunc(args, drops.MatchString) {
		return dropsData
	}
	if slices.ContainsFunc(args, unknown) {
		return hiddenWords
	}
	return ""
}
