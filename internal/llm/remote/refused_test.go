package remote_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/llm/anthropic"
	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
	"github.com/bb2d0cf4/agent/internal/llm/remote"
)

// refusedImages are refusals of pictures in the words of servers; the status is 400 without
// one of their own.
var refusedImages = []string{
	"messages.0.content.1.image.source.base64: image exceeds 5 MB maximum: 6291456 bytes > 5242880 bytes",
	"messages.2.content.0.image.source.base64.data: At least one of the image dimensions exceed max allowed size: 8000 pixels",
	"At least one of the image dimensions exceed max allowed size for many-image requests: 2000 pixels",
	"Could not process image", "Image does not match the provided media type image/png",
	"messages.0.content.1.image.source.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'",
	"The image data you provided does not represent a valid image. Please check your input and try again.",
	"You uploaded an unsupported image. Please make sure your image has of one the following formats: ['png', 'jpeg', 'gif', 'webp'].",
	"Invalid image.", "Invalid base64 image_url.", "Invalid MIME type. Only image types are supported.", "Invalid 'input[2].content[1].image_url'. Expected a valid URL, but got a value with an invalid format.",
	"Failed to extract 1 image(s).", "Timeout while downloading the image.", "Expected a base64-encoded data URL with an image MIME type (e.g. 'data:image/png;base64,aW1nIGJ5dGVzIGhlcmU='), but got unsupported MIME type 'image/svg+xml'.",
	"Your input image may contain content that is not allowed by our safety system.", "Image is too small. Minimum height is 28 pixels.",
	"Invalid content type. image_url is only supported by certain models.", "This model does not support image inputs.",
	"Unable to process input image. Please retry or report in https://developers.generativeai.google/guide/troubleshooting",
	"Provided image is not valid.", "Unsupported MIME type: image/gif", "Request payload size exceeds the limit: 20971520 bytes.",
	"At most 1 image(s) may be provided in one request.", "At most 0 image(s) may be provided in one prompt.", "You set image=2 (or defaulted to 1) in `--limit-mm-per-prompt`, but passed 3 image items in the same prompt.",
	"Failed to load image: cannot identify image file <_io.BytesIO object at 0x7f2b8c0d5e40>", "m is not a multimodal model", "Only base64 data URLs are supported for now.",
	"The decoder prompt (length 5000) is too long for the picture", "height:1 or width:9000 must be larger than factor:28", "absolute aspect ratio must be smaller than 200, got 300",
	"Input should be a valid string", "messages[1].content: invalid type: sequence, expected a string", "content must be a string", "Invalid value for 'content': expected a string, got null.",
	"'messages.0.content' must be a string", "failed to parse messages: unsupported content[].type", "unsupported content type: image_url", "messages[0].content[1].type: unknown variant `image_url`, expected `text`",
	"500 image input is not supported - hint: if this is unexpected, you may need to provide the mmproj", "500 failed to process image", "400 Failed to load image or audio file",
	"500 Failed to create llm request: failed to process inputs: image: unknown format", "404 No endpoints found that support image input", "422 unprocessable entity", "415 Unsupported Media Type",
	"413 Request too large", "413 Payload Too Large", "403 The picture was flagged by moderation.", "Multimodal data is corrupted", "Bad Request", "Invalid request", "Provider returned error",
	"Download the media resource timed out during the data inspection process.", "The media_type of the file is wrong.", "InternalError.Algo.InvalidParameter: The image length and width do not meet the model restrictions.",
	"Input data may contain inappropriate content.", "Only one of the two content types is allowed: a vision model is needed", "ValidationException: Malformed input request: #/messages/0/content/1: extraneous key [image] is not permitted",
	"The model returned the following errors: image dimensions too large", "Too many images and documents: 21 + 0 > 20", "image_parse_error", "unsupported_image_media_type", "Error decoding base64 data", "cannot read the WebP",
}

// refusedSchemas are refusals of a tool. NAME is its name, and NUMBER its place in the list.
var refusedSchemas = []string{
	"Invalid schema for function 'NAME': In context=('properties', 'a'), array schema missing items.", "Invalid schema for function 'NAME': schema must be a JSON Schema of 'type: \"object\"', got 'type: \"array\"'.",
	"Invalid schema for function 'NAME': schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level.", "Invalid schema for function 'NAME': 'int' is not valid under any of the given schemas.",
	"Invalid schema for function 'NAME': [{'type': 'string'}] is not of type 'object', 'boolean'.", "Invalid schema for function 'NAME': True is not of type 'number'.", "Invalid schema for function 'NAME': Please ensure it is a valid JSON Schema.",
	"Invalid schema for function 'NAME': reference can only point to definitions defined at the top level of the schema.", "Invalid schema for function 'NAME': '^(?!x)' is not a 'regex'.", "Invalid 'tools[NUMBER].function.parameters': unresolved reference.",
	"Invalid 'tools[NUMBER].function.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.", "Invalid 'tools[NUMBER].function.description': string is not of the right form.",
	"Invalid schema for function 'NAME': schema has too many enum values.", "Invalid 'tools[NUMBER].name': string does not match pattern.", "Missing required parameter: 'tools[NUMBER].parameters'.",
	"tools.NUMBER.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level", "tools.NUMBER.custom.input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12.", "tools.NUMBER.custom.input_schema.type: Field required",
	"tools.NUMBER.custom.input_schema.properties: Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'", "tools.NUMBER.custom.input_schema.type: Input should be 'object'", "tools.NUMBER.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'",
	"tools.NUMBER.input_schema: JSON schema is invalid - please consult https://json-schema.org", "tools.NUMBER.name: String should have at most 64 characters", "tools: Tool names must be unique: NAME",
	"* GenerateContentRequest.tools[0].function_declarations[NUMBER].parameters.properties[a].items: missing field.", "* GenerateContentRequest.tools[0].function_declarations[NUMBER].parameters.required[0]: property is not defined",
	"* GenerateContentRequest.tools[0].function_declarations[NUMBER].parameters.properties[a].enum: only allowed for STRING type", "Invalid JSON payload received. Unknown name \"exclusiveMinimum\" at 'tools[0].function_declarations[NUMBER].parameters.properties[0].value': Cannot find field.",
	"Unable to submit request because `NAME` functionDeclaration `parameters.a` schema didn't specify the schema type field.", "Unable to submit request because `NAME` functionDeclaration `parameters.a` schema specified other fields alongside any_of.",
	"Proto field is not repeating, cannot start list.", "Invalid value at 'tools[0].function_declarations[NUMBER].parameters.properties[0].value.type' (type.googleapis.com/Type), \"int\"", "Request contains an invalid argument.",
	"tools.function.parameters is not a valid moonshot flavored json schema, details: <At path 'properties.a': type is not defined>", "Invalid request: function name is invalid, must start with a letter", "Invalid request: tools.function.parameters is invalid",
	"The value at toolConfig.tools.NUMBER.toolSpec.inputSchema.json.type must be one of the following: object.", "The format of the value at toolConfig.tools.NUMBER.toolSpec.inputSchema.json is invalid. Provide a json object for the field and try again.",
	"invalid JSON schema for tool NAME, tools[NUMBER].function.parameters: `/properties/a/type`: value must be one of 'array', 'boolean', 'integer', 'null', 'number', 'object', 'string'", "Failed to parse tool NAME", "Invalid tool definition: NAME",
	"[{'type': 'missing', 'loc': ('body', 'tools', NUMBER, 'function', 'parameters'), 'msg': 'Field required'}]", "1 validation error for FunctionDefinition: parameters.type", "Error resolving ref #/definitions/x", "JSON schema conversion failed: Unrecognized schema: {\"type\":\"int\"}",
	"500 Failed to initialize samplers: failed to parse grammar", "500 Error resolving ref #/$defs/a: $defs not in {}", "400 Pattern must start with '^' and end with '$'", "400 The provided JSON schema contains features not supported by xgrammar: ['pattern'].",
	"400 Invalid grammar specification.", "422 Unprocessable Entity", "422 Input should be a valid dictionary", "404 Tool schema not understood", "Bad Request", "Invalid request", "Provider returned error", "invalid_function_parameters", "Unsupported schema", "json: cannot unmarshal array into Go struct field .tools.function.parameters.properties.type of type string",
	"json: cannot unmarshal bool into Go struct field ToolFunction.tools.function.parameters.properties of type api.ToolProperty", "template: :21:1: executing \"\" at <.Tools>: error calling json", "Extra inputs are not permitted: `tools.NUMBER.custom.strict`", "Invalid parameter: function has a recursive type", "function NAME has an unsupported type",
	"Schema.items cannot be a list: in a tool", "Error code: 400 - too many properties",
}

// refusal returns an error of a server, whose text may begin with its status.
func refusal(text string) llmtest.Turn {
	status := 400
	if n, rest, ok := strings.Cut(text, " "); ok && len(n) == 3 && n[0] >= '4' && n[0] <= '5' {
		if _, err := fmt.Sscan(n, &status); err == nil {
			text = rest
		}
	}
	body, _ := json.Marshal(map[string]any{"error": map[string]string{"type": "invalid_request_error", "message": text}}) // of strings: it cannot fail
	return llmtest.Raw(status, "application/json", string(body))
}

// TestRefusedImagesInAllWords refuses a new picture in many wordings: the conversation goes on
// with one more request, and the later ones are accepted at once.
func TestRefusedImagesInAllWords(t *testing.T) {
	if len(refusedImages) < 60 {
		t.Errorf("only %d wordings", len(refusedImages))
	}
	old := llm.Message{Role: llm.User, Parts: []llm.Part{{Kind: llm.TextPart, Text: "look"}, {Kind: llm.ImagePart, Mime: "image/png", Data: []byte("an old picture")}}}
	picture := llm.Message{Role: llm.User, Parts: []llm.Part{{Kind: llm.TextPart, Text: "look"}, {Kind: llm.ImagePart, Mime: "image/png", Data: []byte("a new picture")}}}
	encoded := []byte(base64Of("a new picture"))
	for _, w := range wires {
		for _, text := range refusedImages {
			for _, earlier := range [][]llm.Message{nil, {old, llm.TextMessage(llm.Assistant, "yes")}} {
				refused := 0
				s := llmtest.NewServerFunc(t, func(_ int, body []byte) llmtest.Turn {
					limited := strings.HasPrefix(text, "At most 1 ") && earlier == nil
					if bytes.Contains(body, encoded) && !limited {
						if strings.HasPrefix(text, "At most 1 ") && !bytes.Contains(body, []byte(base64Of("an old picture"))) {
							return llmtest.Turn{Text: "ok"}
						}
						refused++
						return refusal(text)
					}
					return llmtest.Turn{Text: "ok"}
				})
				m := remote.New(remote.Options{BaseURL: s.URL(), Clock: noWait}, w.protocol())
				messages, want := earlier, 0
				if earlier != nil {
					ask(t.Context(), m, llm.Request{Messages: earlier[:1]})
					want++
				}
				messages = append(messages[:len(messages):len(messages)], picture)
				for range 3 {
					if a := ask(t.Context(), m, llm.Request{Messages: messages}); a.err != nil || a.text != "ok" {
						t.Errorf("%s, %q: %+v", w.name, text, a.err)
					}
					messages = append(messages, llm.TextMessage(llm.Assistant, "ok"), llm.TextMessage(llm.User, "go on"))
				}
				if got := len(s.Requests()); got > want+4 || refused > 1 {
					t.Errorf("%s, %q: %d requests, %d refused", w.name, text, got-want, refused)
				}
			}
		}
	}
}

// TestRefusedSchemasInAllWords refuses a tool in many wordings, in the same way.
func TestRefusedSchemasInAllWords(t *testing.T) {
	if len(refusedSchemas) < 60 {
		t.Errorf("only %d wordings", len(refusedSchemas))
	}
	const name = "mcp__sick__tool"
	tools := []llm.ToolSpec{{Name: "read_file", Schema: []byte(`{"type":"object"}`)}}
	for _, other := range []string{"mcp__a__b", name, "mcp__sick__tool_2"} {
		tools = append(tools, llm.ToolSpec{Name: other, Foreign: true, Schema: []byte(`{"type":"object","properties":{}}`)})
	}
	for _, w := range wires {
		for _, wording := range refusedSchemas {
			text := strings.ReplaceAll(strings.ReplaceAll(wording, "NAME", name), "NUMBER", "2")
			refused, told := 0, 0
			s := llmtest.NewServerFunc(t, func(_ int, body []byte) llmtest.Turn {
				if bytes.Contains(body, []byte(`"`+name+`"`)) {
					refused++
					return refusal(text)
				}
				return llmtest.Turn{Text: "ok"}
			})
			m := remote.New(remote.Options{BaseURL: s.URL(), Clock: noWait}, w.protocol())
			for range 3 {
				for d, err := range m.Stream(t.Context(), llm.Request{Messages: []llm.Message{llm.TextMessage(llm.User, "go")}, Tools: tools}) {
					if err != nil {
						t.Errorf("%s, %q: %v", w.name, wording, err)
					}
					if strings.Contains(d.Notice, name) {
						told++
					}
				}
			}
			r := s.Requests()
			if len(r) != 4 || refused != 1 || told != 1 || !bytes.Contains(r[3], []byte("read_file")) {
				t.Errorf("%s, %q: %d requests, %d refused, told %d times", w.name, wording, len(r), refused, told)
			}
			if named := strings.Contains(wording, "NAME") || strings.Contains(wording, "NUMBER"); named && !bytes.Contains(r[len(r)-1], []byte("mcp__sick__tool_2")) {
				t.Errorf("%s, %q: other tools are left out, too", w.name, wording)
			}
		}
	}
}

// TestRefusalOfSomethingElse refuses all requests: the picture and the tool, which are not the
// cause, are sent again.
func TestRefusalOfSomethingElse(t *testing.T) {
	req := llm.Request{
		Messages: []llm.Message{{Role: llm.User, Parts: []llm.Part{{Kind: llm.ImagePart, Mime: "image/png", Data: []byte("a picture")}}}},
		Tools:    []llm.ToolSpec{{Name: "mcp__a__b", Foreign: true, Schema: []byte(`{"type":"object"}`)}},
	}
	for _, w := range wires {
		for _, text := range []string{"You are holding it wrong (id 12)", "the image service is down", "no schema", "401 no"} {
			broken := true
			s := llmtest.NewServerFunc(t, func(n int, _ []byte) llmtest.Turn {
				if broken {
					return refusal(text + fmt.Sprint(n))
				}
				return llmtest.Turn{Text: "ok"}
			})
			m := remote.New(remote.Options{BaseURL: s.URL(), Clock: noWait}, w.protocol())
			if a := ask(t.Context(), m, req); a.err == nil || len(s.Requests()) > 2 {
				t.Errorf("%s, %q: %v after %d requests", w.name, text, a.err, len(s.Requests()))
			}
			broken = false
			ask(t.Context(), m, req)
			last := s.Requests()[len(s.Requests())-1]
			if !bytes.Contains(last, []byte("mcp__a__b")) || !bytes.Contains(last, []byte(base64Of("a picture"))) {
				t.Errorf("%s, %q: left out of %s", w.name, text, last)
			}
		}
	}
}

// TestOldImagesRefused refuses pictures that the server took before: all are left out.
func TestOldImagesRefused(t *testing.T) {
	messages := []llm.Message{{Role: llm.User, Parts: []llm.Part{{Kind: llm.ImagePart, Mime: "image/png", Data: []byte("a picture")}}}}
	for _, w := range wires {
		s := llmtest.NewServerFunc(t, func(n int, body []byte) llmtest.Turn {
			if n > 0 && bytes.Contains(body, []byte(base64Of("a picture"))) {
				return refusal("no more pictures")
			}
			return llmtest.Turn{Text: "ok"}
		})
		m := remote.New(remote.Options{BaseURL: s.URL(), Clock: noWait}, w.protocol())
		for range 3 {
			if a := ask(t.Context(), m, llm.Request{Messages: messages}); a.err != nil {
				t.Errorf("%s: %v", w.name, a.err)
			}
		}
		if n := len(s.Requests()); n != 4 {
			t.Errorf("%s: %d requests", w.name, n)
		}
	}
}

// TestLongDescriptions refuses a long description of a tool: it is cut.
func TestLongDescriptions(t *testing.T) {
	for _, w := range wires {
		s := llmtest.NewServerFunc(t, func(_ int, body []byte) llmtest.Turn {
			if bytes.Contains(body, bytes.Repeat([]byte("x"), 1025)) {
				return refusal("Invalid 'tools[0].function.description': string too long. Expected a string with maximum length 1024, but got a string with length 3000 instead.")
			}
			return llmtest.Turn{Text: "ok"}
		})
		m := remote.New(remote.Options{BaseURL: s.URL(), Clock: noWait}, w.protocol())
		req := llm.Request{
			Messages: []llm.Message{llm.TextMessage(llm.User, "go")},
			Tools:    []llm.ToolSpec{{Name: "mcp__a__b", Description: strings.Repeat("x", 3000), Foreign: true, Schema: []byte(`{"type":"object"}`)}},
		}
		for range 2 {
			if a := ask(t.Context(), m, req); a.err != nil {
				t.Errorf("%s: %v", w.name, a.err)
			}
		}
		if r := s.Requests(); len(r) != 3 || !bytes.Contains(r[2], bytes.Repeat([]byte("x"), 1024)) || len(req.Tools[0].Description) != 3000 {
			t.Errorf("%s: %d requests", w.name, len(r))
		}
	}
}

// TestSeveralImagesRefused resumes a conversation with pictures that the server refuses, in
// earlier prompts and in the new one.
func TestSeveralImagesRefused(t *testing.T) {
	var messages []llm.Message
	for _, data := range []string{"bad one", "good one", "bad two"} {
		messages = append(messages, llm.Message{Role: llm.User, Parts: []llm.Part{{Kind: llm.ImagePart, Mime: "image/png", Data: []byte(data)}}}, llm.TextMessage(llm.Assistant, "yes"))
	}
	messages = messages[:len(messages)-1]
	for _, w := range wires {
		for _, bad := range [][]string{{"bad one", "bad two"}, {"bad one"}, {"bad two"}} {
			s := llmtest.NewServerFunc(t, func(_ int, body []byte) llmtest.Turn {
				for _, data := range bad {
					if bytes.Contains(body, []byte(base64Of(data))) {
						return refusal("The frobnicator is unhappy")
					}
				}
				return llmtest.Turn{Text: "ok"}
			})
			m := remote.New(remote.Options{BaseURL: s.URL(), Clock: noWait}, w.protocol())
			for range 2 {
				if a := ask(t.Context(), m, llm.Request{Messages: messages}); a.err != nil {
					t.Errorf("%s, %q: %v", w.name, bad, a.err)
				}
			}
			if n := len(s.Requests()); n > 4 || len(bad) == 1 && bad[0] == "bad two" && n > 3 {
				t.Errorf("%s, %q: %d requests", w.name, bad, n)
			}
		}
	}
}

// TestMarkerOfATool refuses the time of a cache marker, which is in the last tool: the tool stays.
func TestMarkerOfATool(t *testing.T) {
	s := llmtest.NewServerFunc(t, func(_ int, body []byte) llmtest.Turn {
		if bytes.Contains(body, []byte(`"ttl"`)) {
			return refusal("tools.0.cache_control.ttl: Extra inputs are not permitted")
		}
		return llmtest.Turn{Text: "ok"}
	})
	m := remote.New(remote.Options{BaseURL: s.URL(), Clock: noWait}, anthropic.New(anthropic.Options{Model: "m", CacheHour: true}))
	a := ask(t.Context(), m, llm.Request{
		Messages: []llm.Message{llm.TextMessage(llm.User, "go")}, Tools: []llm.ToolSpec{{Name: "mcp__a__b", Foreign: true, Schema: []byte(`{"type":"object"}`)}},
	})
	if r := s.Requests(); a.err != nil || len(r) != 2 || !bytes.Contains(r[1], []byte("mcp__a__b")) {
		t.Errorf("%v, %d requests", a.err, len(r))
	}
}

// TestBusyServer fails some attempts of a request with a new picture and a new tool: both are
// sent until the server has time.
func TestBusyServer(t *testing.T) {
	req := llm.Request{
		Messages: []llm.Message{{Role: llm.User, Parts: []llm.Part{{Kind: llm.ImagePart, Mime: "image/png", Data: []byte("a picture")}}}},
		Tools:    []llm.ToolSpec{{Name: "mcp__a__b", Foreign: true, Schema: []byte(`{"type":"object"}`)}},
	}
	for _, w := range wires {
		for _, text := range []string{"503 The vision model is overloaded", "529 Overloaded", "502 Bad gateway", "429 Too many requests for image tools", "504 Timeout", "500 Oops"} {
			s := llmtest.NewServerFunc(t, func(n int, _ []byte) llmtest.Turn {
				if n < 2 {
					return refusal(text)
				}
				return llmtest.Turn{Text: "ok"}
			})
			m := remote.New(remote.Options{BaseURL: s.URL(), Clock: noWait}, w.protocol())
			a := ask(t.Context(), m, req)
			last := s.Requests()[len(s.Requests())-1]
			if a.err != nil || len(s.Requests()) != 3 || !bytes.Contains(last, []byte("mcp__a__b")) || !bytes.Contains(last, []byte(base64Of("a picture"))) {
				t.Errorf("%s, %q: %v after %d requests", w.name, text, a.err, len(s.Requests()))
			}
		}
	}
}

// TestManyTools offers more tools than servers take.
func TestManyTools(t *testing.T) {
	var tools []llm.ToolSpec
	for i := range 140 {
		tools = append(tools, llm.ToolSpec{Name: fmt.Sprintf("mcp__a__t%d", i), Foreign: true, Schema: []byte(`{"type":"object"}`)})
	}
	tools = append(tools, llm.ToolSpec{Name: "read_file", Schema: []byte(`{"type":"object"}`)})
	for _, w := range wires {
		for _, most := range []int{200, 100} {
			s := llmtest.NewServerFunc(t, func(_ int, body []byte) llmtest.Turn {
				if bytes.Count(body, []byte(`"name":`)) > most {
					return refusal(fmt.Sprintf("Invalid 'tools': array too long. Expected an array with maximum length %d, but got an array with length 141 instead.", most))
				}
				return llmtest.Turn{Text: "ok"}
			})
			m := remote.New(remote.Options{BaseURL: s.URL(), Clock: noWait}, w.protocol())
			told := 0
			for range 3 {
				for d, err := range m.Stream(t.Context(), llm.Request{Messages: []llm.Message{llm.TextMessage(llm.User, "go")}, Tools: tools}) {
					if err != nil {
						t.Errorf("%s: %v", w.name, err)
					}
					if d.Notice != "" {
						told++
					}
				}
			}
			r := s.Requests()
			want := min(most, 128)
			if w.name == "messages" && most > 141 {
				want = 141
			}
			if got := bytes.Count(r[len(r)-1], []byte(`"name":`)); got != want || !bytes.Contains(r[len(r)-1], []byte(`"read_file"`)) || len(r) > 4 {
				t.Errorf("%s: %d tools after %d requests, want %d", w.name, got, len(r), want)
			}
			if (told > 0) != (want < 141) || told > 2 {
				t.Errorf("%s: told %d times", w.name, told)
			}
		}
	}
}

// noWait is a clock that waits for nothing.
var noWait = remote.Clock{Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }}

func base64Of(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
