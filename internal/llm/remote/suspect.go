package remote

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bb2d0cf4/agent/internal/lazyregexp"
	"github.com/bb2d0cf4/agent/internal/llm"
)

// trial is the state of a request over its attempts, one of which may be without the parts
// that may be the cause of a refusal. They stay left out if the server accepts the rest.
type trial struct {
	patience time.Duration // with a silent server

	stage  int
	text   string // of the refusal, without what differs from request to request
	images [][]byte
	tools  []string
	why    string
	notes  []string // for the person, with the answer
}

// stages is how many trials a request has: the newest images and tools, then all images.
const stages = 2

// aboutImages matches a refusal that may be about an image.
var aboutImages = lazyregexp.New(`image|picture|photo|vision|visual|multi-?modal|mmproj|\bpixels?\b|\bpng\b|jpe?g|\bgif\b|webp|media.?type|base64|inline_?data|data.?ur[il]|modalit|` +
	`content.{0,40}(must be|should be|expected|valid|got|not) .{0,20}(string|str)\b|invalid type: sequence|expected (a |an )?(valid )?string|content (part|type|block)`)

// aboutNothing matches a refusal of a message without content, by a server that takes
// parts of content.
var aboutNothing = lazyregexp.New(`content.{0,60}(<nil>|or an? (array|list))`)

// aboutTools matches a refusal that may be about a tool.
var aboutTools = lazyregexp.New(`\btools?\b|functions?\b|function_?declaration|schema|\bparameters?\b|propert(y|ies)\b|\btype\b.*\b(object|array)\b|grammar|\$defs|\bref\b|input_schema`)

// tooManyImages and tooManyTools find how many a server takes in a request.
var (
	tooManyImages = lazyregexp.New(`(?:at most|max(?:imum)?(?: (?:number )?of)?|limit(?:ed)?(?: of| is| to)?|up to|only|no more than|exceeds?(?: the)?(?: max\w*)?(?: limit)?(?: of)?) (\d+) (?:images?|pictures?|media|multi-?modal)`)
	tooLongText   = lazyregexp.New(`tools?\b.{0,30}description.{0,80}(?:maximum length|at most) (\d+)`)
	tooManyTools  = lazyregexp.New(`tools?.{0,60}(?:maximum length|at most|max\w*(?: (?:of|is|allowed))*:?|limit(?: of| is)?:?|up to|no more than|exceeds?) (\d+)|(?:at most|max(?:imum)?(?: of)?|up to|limit of|no more than) (\d+) (?:tools|functions)`)
)

// countIn returns the number that re finds in a text, zero without one.
func countIn(re lazyregexp.Regexp, text string) int {
	for _, number := range slices.Concat(re.FindAllStringSubmatch(text, 1)...) {
		if n, err := strconv.Atoi(number); err == nil {
			return n
		}
	}
	return 0
}

// learnTools leaves out the tools that a refusal of req names, or those that are too many.
// It reports whether there are such, and explains it to the person.
func (o *omissions) learnTools(refusal *llm.Error, req llm.Request) (told string, learned bool) {
	if n := countIn(tooManyTools, strings.ToLower(refusal.Message)); n > 0 && n < len(req.Tools) {
		o.maxTools, o.told = n, n
		left := len(req.Tools) - len(o.offer(req.Tools))
		return tooMany(n, left), left > 0
	}
	if n := countIn(tooLongText, strings.ToLower(refusal.Message+" "+refusal.Field)); n > 0 && (o.maxText == 0 || n < o.maxText) {
		o.maxText = n
		return fmt.Sprintf("The server takes %d letters in the description of a tool: the longer ones of MCP servers are cut.", n), true
	}
	names := namedTools(refusal, req.Tools)
	if len(names) == 0 {
		return "", false
	}
	return o.leaveOut(names, refusal.Message), true
}

// tooMany explains that tools are left out of requests that may have most.
func tooMany(most, left int) string {
	return fmt.Sprintf("The server takes %d tools: %s left out. Switch off servers that you do not need.", most, areTools(left))
}

// learn leaves out the parts of req that a refusal is surely about. It reports whether there
// are such parts; req is the refused request. told explains it to the person, if they need
// to know.
func (o *omissions) learn(refusal *llm.Error, req llm.Request) (told string, learned bool) {
	text := strings.ToLower(refusal.Message)
	if n := countIn(tooManyImages, text); n > 0 && n < countImages(req.Messages) {
		o.maxImages = n
		return fmt.Sprintf("The server takes %d images in a request: the earlier ones are left out.", n), true
	}
	switch {
	case RefusesImages(text):
		learned = !o.images && slices.ContainsFunc(req.Messages, llm.Message.Shows)
		o.images = o.images || learned
	case extrasRefused.MatchString(text):
		learned = o.refuseExtras(req.Messages)
	}
	return "", learned
}

func countImages(messages []llm.Message) (n int) {
	for _, m := range messages {
		for _, p := range m.Parts {
			if p.Kind == llm.ImagePart {
				n++
			}
		}
	}
	return n
}

// leaveOut leaves out tools from now on, and returns the message about it.
func (o *omissions) leaveOut(names []string, why string) string {
	if o.tools == nil {
		o.tools = map[string]bool{}
	}
	for _, name := range names {
		o.tools[name] = true
	}
	shown := names
	if len(shown) > 5 {
		shown = append(slices.Clone(shown[:5]), "…")
	}
	return fmt.Sprintf("%s left out for this model, because its server refuses the description: %s. It said: %s",
		areTools(len(names)), strings.Join(shown, ", "), strings.TrimRight(why, ".")+".")
}

func areTools(n int) string {
	if n == 1 {
		return "1 tool of an MCP server is"
	}
	return fmt.Sprintf("%d tools of MCP servers are", n)
}

// indexed finds the numbers of tools in a refusal, as the APIs of the three protocols,
// pydantic and Google's servers write them.
var indexed = lazyregexp.New(`(?i)function_?declarations?\[(\d+)\]|\btools?['"]?[\[\]./,\s'"]+(\d+)\b(?:[\].,/\s:'")]|$)`)

// inMessages matches a refusal of a message, which may mention a tool.
var inMessages = lazyregexp.New(`\b(messages|input|contents)[.\[]\d`)

// namedTools returns the foreign tools that a refusal names, or whose number it names.
func namedTools(refusal *llm.Error, tools []llm.ToolSpec) (names []string) {
	text := strings.Join(append([]string{refusal.Message, refusal.Field}, refusal.Details...), "\n")
	numbers := indexed.FindAllStringSubmatch(text, -1)
	lower := strings.ToLower(text)
	if !aboutTools.MatchString(lower) || RefusesTTL(lower) || strings.Contains(lower, "cache_control") || len(numbers) == 0 && inMessages.MatchString(text) {
		return nil
	}
	google := slices.ContainsFunc(numbers, func(m []string) bool { return m[1] != "" }) // tools[0].function_declarations[3]
	for i, t := range tools {
		hit := slices.ContainsFunc(numbers, func(m []string) bool {
			if google {
				return m[1] == strconv.Itoa(i)
			}
			return m[2] == strconv.Itoa(i)
		})
		if t.Foreign && (hit || hasWord(text, t.Name)) {
			names = append(names, t.Name)
		}
	}
	return names
}

// hasWord reports whether text has a tool's name that is no part of another name.
func hasWord(text, name string) bool {
	for {
		_, after, ok := strings.Cut(text, name)
		if !ok {
			return false
		}
		before := text[:len(text)-len(after)-len(name)]
		if !endsInName.MatchString(before) && !beginsInName.MatchString(after) {
			return true
		}
		text = after
	}
}

var (
	endsInName   = lazyregexp.New(`[\w-]$`)
	beginsInName = lazyregexp.New(`^[\w-]`)
)

// varying matches the parts of a refusal that differ from request to request.
var varying = regexp.MustCompile(`[[:xdigit:]]{6,}|\d+|req_\w+`)

// kernel returns the text of a refusal without those.
func kernel(refusal *llm.Error) string { return varying.ReplaceAllString(refusal.Message, "#") }

// try begins a trial after a refusal that no rule explains. It returns false if nothing
// new is in the request, or the refusal is not about its parts.
func (o *omissions) try(t *trial, fail *failure, req llm.Request, attempt int) bool {
	text := strings.ToLower(fail.err.Message + " " + fail.err.Field)
	images, tools := aboutImages.MatchString(text), aboutTools.MatchString(text)
	if t.stage >= stages || !fail.suspicious(images || tools, attempt) {
		return false
	}
	t.stage++
	newest := t.images
	t.text, t.why, t.images, t.tools = kernel(fail.err), fail.err.Message, nil, nil
	if images || !tools {
		t.images = o.suspects(req.Messages, t.stage)
	}
	if len(t.images) > 0 {
		t.images = append(t.images, newest...) // of the first trial
	}
	if images && len(t.images) == 0 { // the server has taken them before
		t.images, t.stage = new(omissions).newImages(req.Messages), stages
	}
	if tools && len(t.images) == 0 || !images {
		t.tools = o.newTools(req.Tools)
	}
	for _, image := range t.images {
		o.refuse(image)
	}
	if len(t.tools) > 0 {
		o.leaveOut(t.tools, "")
	}
	return len(t.images)+len(t.tools) > 0
}

// suspects returns the new images to leave out: those since the model's last answer, then
// all.
func (o *omissions) suspects(messages []llm.Message, stage int) [][]byte {
	last := len(messages)
	for last > 0 && messages[last-1].Role != llm.Assistant {
		last--
	}
	if images := o.newImages(messages[last:]); stage == 1 && len(images) > 0 {
		return images
	}
	return o.newImages(messages)
}

// suspicious reports whether a failure may be about a part of the request. A fault of the
// server is one if its text mentions a part, or if it occurs again and again; a server that is
// busy is not.
func (f *failure) suspicious(mentions bool, attempt int) bool {
	switch f.err.Status {
	case http.StatusUnauthorized, http.StatusPaymentRequired, http.StatusRequestTimeout, http.StatusConflict, http.StatusTooEarly, http.StatusTooManyRequests:
		return false
	case http.StatusForbidden:
		return mentions
	case http.StatusRequestEntityTooLarge:
		return true
	}
	if kind := f.err.Kind; kind != llm.Refused && kind != llm.NotFound && kind != llm.Temporary && kind != llm.Unauthorized {
		return false
	}
	if f.again {
		return f.err.Status == http.StatusInternalServerError && (mentions || attempt > 2)
	}
	return true
}

// failed ends a trial with a refusal. It reports whether that is the same as before, so that
// the parts are not the cause: they are sent again.
func (o *omissions) failed(t *trial, refusal *llm.Error) bool {
	same := t.text != "" && t.text == kernel(refusal)
	if same {
		for _, image := range t.images {
			delete(o.refused, sumOf(image))
		}
		for _, name := range t.tools {
			delete(o.tools, name)
		}
		t.text = ""
	}
	return same
}

// telling returns emit with the messages for the person before the end of the answer.
func (t *trial) telling(emit func(llm.Delta) bool) func(llm.Delta) bool {
	return func(d llm.Delta) bool {
		if d.End != nil {
			for _, note := range append(t.notes, t.told()...) {
				if !emit(llm.Delta{Notice: note}) {
					return false
				}
			}
		}
		return emit(d)
	}
}

// told returns the messages about a trial that succeeded.
func (t *trial) told() (notes []string) {
	if t.text == "" {
		return nil
	}
	if len(t.images) > 0 {
		notes = append(notes, "The server refused the image: the model gets a remark instead. It said: "+strings.TrimRight(t.why, ".")+".")
	}
	if len(t.tools) > 0 {
		notes = append(notes, new(omissions).leaveOut(t.tools, t.why))
	}
	return notes
}
