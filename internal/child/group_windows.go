package child

import (
	"errors"
	"fmt"
	"os/exec"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// Group holds a program and all processes that it starts, wherever they go. The system ends them
// when the group is closed, and when this program ends, however that happens.
type Group struct{ job windows.Handle }

// StartGroup starts cmd in a group of its own.
func StartGroup(cmd *exec.Cmd) (*Group, error) {
	g, err := newGroup()
	if err != nil {
		return nil, err
	}
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	// It starts nothing before it is in the group.
	cmd.SysProcAttr.CreationFlags |= windows.CREATE_SUSPENDED
	if err := cmd.Start(); err != nil {
		g.Close()
		return nil, err
	}
	if err := errors.Join(g.take(uint32(cmd.Process.Pid)), resume(uint32(cmd.Process.Pid))); err != nil {
		_ = cmd.Process.Kill() // as closing the group does, if it is in there
		_ = cmd.Wait()
		g.Close()
		return nil, fmt.Errorf("put the program into a job: %w", err)
	}
	return g, nil
}

func newGroup() (*Group, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return nil, fmt.Errorf("create a job: %w", err)
	}
	g := &Group{job}
	var limits windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	limits.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	if _, err := windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits))); err != nil {
		g.Close()
		return nil, fmt.Errorf("limit a job: %w", err)
	}
	return g, nil
}

// take puts a process into the group.
func (g *Group) take(pid uint32) error {
	h, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, pid)
	if err != nil {
		return err
	}
	return errors.Join(windows.AssignProcessToJobObject(g.job, h), windows.CloseHandle(h))
}

// resume lets a process run that was started suspended, which has one thread.
func resume(pid uint32) error {
	all, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPTHREAD, 0)
	if err != nil {
		return err
	}
	defer func() { _ = windows.CloseHandle(all) }() // our own, closed once
	e := windows.ThreadEntry32{Size: uint32(unsafe.Sizeof(windows.ThreadEntry32{}))}
	for err = windows.Thread32First(all, &e); err == nil; err = windows.Thread32Next(all, &e) {
		if e.OwnerProcessID != pid {
			continue
		}
		h, err := windows.OpenThread(windows.THREAD_SUSPEND_RESUME, false, e.ThreadID)
		if err != nil {
			return err
		}
		_, err = windows.ResumeThread(h)
		return errors.Join(err, windows.CloseHandle(h))
	}
	return fmt.Errorf("find the first thread: %w", err)
}

// processList is JOBOBJECT_BASIC_PROCESS_ID_LIST with room for maxListed.
type processList struct {
	assigned, listed uint32
	pids             [maxListed]uintptr
}

// maxListed is how many processes of a group are told, not how many are ended.
const maxListed = 1000

// Processes returns the processes in the group, up to 1,000 of them.
func (g *Group) Processes() ([]int, error) {
	var list processList
	err := windows.QueryInformationJobObject(g.job, windows.JobObjectBasicProcessIdList, uintptr(unsafe.Pointer(&list)), uint32(unsafe.Sizeof(list)), nil)
	if err != nil && !errors.Is(err, windows.ERROR_MORE_DATA) {
		return nil, fmt.Errorf("list the processes of a job: %w", err)
	}
	var pids []int
	for _, pid := range list.pids[:min(list.listed, maxListed)] {
		pids = append(pids, int(pid))
	}
	return pids, nil
}

// Kill ends all processes in the group.
func (g *Group) Kill() error { return windows.TerminateJobObject(g.job, 1) }

// Close ends all processes in the group, and the group.
func (g *Group) Close() { _ = windows.CloseHandle(g.job) } // it is our own handle, closed once
