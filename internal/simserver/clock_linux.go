//go:build linux

package simserver

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// A sleep ends some time before its goal and busy waiting takes over. How long
// before is learnt from the sleeps themselves: the margin follows the 95th
// percentile of how much they overran, since that is 20 µs on a quiet host and
// 100 µs where a sleeping virtual core has to be scheduled first. The upper
// bound keeps the waste below 2 % of a core at 17 ms steps.
const (
	minSpin  = 30 * time.Microsecond
	maxSpin  = 300 * time.Microsecond
	spinGain = 4 * time.Microsecond
)

// sleeper waits for a moment or for a wake-up, whichever comes first, more
// precisely than a Go timer: ppoll on an eventfd with the thread's timer slack
// at its minimum, then a short spin. One goroutine sleeps; wake is for any.
type sleeper struct {
	fd     int
	origin time.Time
	spin   time.Duration // belongs to the sleeping goroutine
	// frugal never spins: for goals so close together that spinning would take
	// a whole core where there are few.
	frugal bool
}

func newSleeper(origin time.Time) (*sleeper, error) {
	fd, err := unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	return &sleeper{fd: fd, origin: origin, spin: minSpin}, nil
}

// pin binds the calling goroutine to a thread for good and asks the kernel not
// to round that thread's timers.
func (s *sleeper) pin() {
	runtime.LockOSThread()
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
}

// now is the time since the origin.
func (s *sleeper) now() time.Duration { return time.Since(s.origin) }

// until returns true at the goal, or false once woken before it. Wake-ups are
// ignored if deaf.
func (s *sleeper) until(goal time.Duration, deaf bool) bool {
	for {
		alarm := goal - s.spin
		left := alarm - s.now()
		if left <= 0 {
			break
		}
		ts := unix.NsecToTimespec(int64(left))
		fds := [1]unix.PollFd{{Fd: int32(s.fd), Events: unix.POLLIN}}
		n := 0
		if deaf {
			_, _ = unix.Ppoll(nil, &ts, nil)
		} else {
			n, _ = unix.Ppoll(fds[:], &ts, nil)
		}
		if n > 0 {
			s.drain()
			return false
		}
		s.learn(s.now() - alarm)
	}
	for s.now() < goal {
	}
	return true
}

// learn moves the margin by how far a sleep overran its alarm: nineteen small
// steps down weigh as much as one up, which settles at the 95th percentile. A
// negative overrun is a sleep that a signal cut short.
func (s *sleeper) learn(overrun time.Duration) {
	switch {
	case s.frugal:
		s.spin = 0
		return
	case overrun < 0:
		return
	case overrun > s.spin:
		s.spin += spinGain
	default:
		s.spin -= spinGain / 19
	}
	s.spin = min(max(s.spin, minSpin), maxSpin)
}

// idle blocks until woken.
func (s *sleeper) idle() {
	fds := [1]unix.PollFd{{Fd: int32(s.fd), Events: unix.POLLIN}}
	_, _ = unix.Ppoll(fds[:], nil, nil)
	s.drain()
}

func (s *sleeper) drain() {
	var b [8]byte
	_, _ = unix.Read(s.fd, b[:])
}

// wake ends a running or the next idle and undeaf until.
func (s *sleeper) wake() {
	one := [8]byte{1}
	_, _ = unix.Write(s.fd, one[:])
}

func (s *sleeper) close() { _ = unix.Close(s.fd) }

// threadCPU is the user and system time of the calling thread.
func threadCPU() time.Duration { return rusage(unix.RUSAGE_THREAD) }

// processCPU is the user and system time of the process.
func processCPU() time.Duration { return rusage(unix.RUSAGE_SELF) }

func rusage(who int) time.Duration {
	var u unix.Rusage
	if unix.Getrusage(who, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
