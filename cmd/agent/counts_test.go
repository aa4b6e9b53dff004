package main

import (
	"context"
	"encoding/json"
	"net"
	"os"
	"runtime"
	"strings"
	"time"
)

// countsVariable names a socket on which the program, as the tests start it, tells its counts.
const countsVariable = "AGENT_TEST_COUNTS"

// counts are the goroutines, files and memory of a process.
type counts struct {
	Goroutines, Files int
	Heap              int           // bytes that are in use after a collection
	Resident          string        // as the system tells it
	Key               time.Duration `json:"-"` // until the slowest of some keys is shown, seen from outside
}

// tellCounts answers each connection to the socket in countsVariable with the counts, until
// the program ends.
func tellCounts() {
	path := os.Getenv(countsVariable)
	if path == "" {
		return
	}
	var config net.ListenConfig
	l, err := config.Listen(context.Background(), "unix", path)
	if err != nil {
		panic(err)
	}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				panic(err)
			}
			if err := json.NewEncoder(conn).Encode(taken()); err != nil {
				panic(err)
			}
			if err := conn.Close(); err != nil {
				panic(err)
			}
		}
	}()
}

// taken returns the counts of this process. On other systems than Linux it has no files.
func taken() counts {
	runtime.GC()
	runtime.GC() // pools survive the first
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	c := counts{Goroutines: runtime.NumGoroutine(), Heap: int(mem.HeapAlloc)}
	if files, err := os.ReadDir("/proc/self/fd"); err == nil {
		c.Files = len(files)
	}
	if status, err := os.ReadFile("/proc/self/status"); err == nil {
		_, after, _ := strings.Cut(string(status), "VmRSS:")
		line, _, _ := strings.Cut(after, "\n")
		c.Resident = strings.TrimSpace(line)
	}
	return c
}
