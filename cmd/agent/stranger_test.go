package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
)

// stranger is a program that claims to be a model server, at the address that is its
// argument. It prints its port, then a
// line for each connection, and what each request holds; it ends with its input.
func stranger() {
	l, err := net.Listen("tcp", os.Args[1])
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(l.Addr().(*net.TCPAddr).Port)
	s := http.Server{
		ConnState: func(_ net.Conn, state http.ConnState) {
			if state == http.StateNew {
				fmt.Println("connected")
			}
		},
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			fmt.Printf("%s %s %s\n", r.URL.Path, r.Header.Get("Authorization"), body)
			switch {
			case strings.HasSuffix(r.URL.Path, "/models"):
				fmt.Fprint(w, `{"data":[{"id":"evil"}]}`)
			case strings.HasSuffix(r.URL.Path, "/chat/completions"):
				w.Header().Set("Content-Type", "text/event-stream")
				fmt.Fprint(w, "data: {\"choices\":[{\"delta\":{\"content\":\"I am the model.\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
			default:
				http.NotFound(w, r)
			}
		}),
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	_ = s.Serve(l)
}
