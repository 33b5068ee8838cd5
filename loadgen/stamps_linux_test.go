package loadgen

import (
	"errors"
	"net"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// AwaitStamps opens a socket that asks for stamps and sends to itself until a
// read carries one. The socket stays open: its second descriptor is nobody's.
func AwaitStamps() error {
	socket, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return err
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return err
	}
	enableStamps(raw)
	if err := raw.Control(func(fd uintptr) { unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 0) }); err != nil {
		return err
	}
	var r receiver
	buf := make([]byte, 8)
	for until := time.Now().Add(10 * time.Second); time.Now().Before(until); {
		if _, err := socket.WriteTo(buf[:1], socket.LocalAddr()); err != nil {
			return err
		}
		var stamp int64
		err := raw.Read(func(fd uintptr) bool {
			var again bool
			_, stamp, again, _ = r.receive(int(fd), buf)
			return !again
		})
		if err != nil || stamp != 0 {
			return err
		}
	}
	return errors.New("the kernel stamps nothing")
}

// pair is a connection over loopback: ours with kernel stamps, theirs plain.
func pair(t testing.TB) (ours, theirs *net.TCPConn) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	conn, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	peer, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(); peer.Close() })
	return conn.(*net.TCPConn), peer.(*net.TCPConn)
}

// sendAcked writes text and waits until the other side's kernel has taken it.
// It returns the wall clock before and after: the segment was stamped between.
func sendAcked(t testing.TB, conn *net.TCPConn, text string) (before, after int64) {
	t.Helper()
	raw, err := conn.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	before = time.Now().UnixNano()
	if _, err := conn.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	for unacked := 1; unacked > 0; {
		raw.Control(func(fd uintptr) { unacked, err = unix.IoctlGetInt(int(fd), unix.SIOCOUTQ) })
		if err != nil {
			t.Fatal(err)
		}
	}
	return before, time.Now().UnixNano()
}

// arrived waits, by peeking, until n bytes can be read.
func arrived(t testing.TB, fd, n int) {
	t.Helper()
	peek := make([]byte, n)
	for deadline := time.Now().Add(20 * time.Second); ; {
		if got, _, _ := unix.Recvfrom(fd, peek, unix.MSG_PEEK|unix.MSG_DONTWAIT); got == n {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("the bytes never came")
		}
	}
}

// A reader that comes late still learns when the bytes arrived: the stamp lies
// between the sender's own times, and not at the read.
func TestKernelStampIsTheTimeOfArrival(t *testing.T) {
	t.Parallel()
	ours, theirs := pair(t)
	fd, ok := detach(ours, true)
	if !ok {
		t.Fatal("no descriptor")
	}
	defer closeFD(fd)
	var recv receiver
	clock := newClock(time.Now())
	buf := make([]byte, 100)
	var last moment
	for i := range 20 {
		before, after := sendAcked(t, theirs, "hello")
		arrived(t, fd, 5)
		pause := time.Duration(i%4) * 2 * ms // how late the reader comes
		for late := time.Now(); time.Since(late) < pause; {
		}
		n, stamp, again, err := recv.receive(fd, buf)
		if n != 5 || again || err != nil {
			t.Fatal(n, again, err)
		}
		if stamp == 0 && i == 0 {
			continue // just after the option was set a read may come without
		}
		r := clock.now()
		m := clock.moment(r, stamp)
		if clock.steps > 0 {
			t.Skip("the wall clock stepped")
		}
		if stamp < before || stamp > after {
			t.Errorf("read %d: stamp %d ns after the write began, %d ns before its acknowledgement was seen", i, stamp-before, after-stamp)
		}
		if !m.stamped || m.lag < pause || m.at+m.lag != r.mono {
			t.Errorf("read %d: %+v of a read at %s that came %s late", i, m, r.mono, pause)
		}
		if m.at < last.at {
			t.Errorf("read %d: stamp %s lies before the one before, %s", i, m.at, last.at)
		}
		last = m
	}
}

// Several writes that are read together carry the stamp of the last.
func TestMergedReadCarriesTheLastStamp(t *testing.T) {
	t.Parallel()
	ours, theirs := pair(t)
	fd, _ := detach(ours, true)
	defer closeFD(fd)
	var recv receiver
	buf := make([]byte, 100)
	for i := range 3 {
		sendAcked(t, theirs, "one")
		sendAcked(t, theirs, "two")
		before, after := sendAcked(t, theirs, "three")
		arrived(t, fd, 11)
		n, stamp, _, err := recv.receive(fd, buf)
		if n != 11 || err != nil {
			t.Fatal(n, err)
		}
		if i > 0 && (stamp < before || stamp > after) {
			t.Errorf("stamp %d is not of the last write, %d to %d", stamp, before, after)
		}
	}
}

func TestReceive(t *testing.T) {
	t.Parallel()
	ours, theirs := pair(t)
	fd, _ := detach(ours, false)
	defer closeFD(fd)
	var recv receiver
	buf := make([]byte, 3)
	if _, _, again, err := recv.receive(fd, buf); !again || err != nil {
		t.Errorf("of an empty socket: again %v, %v", again, err)
	}
	if !quiet(fd) || hungUp(fd) {
		t.Error("an open and empty socket is not quiet, or hung up")
	}
	sendAcked(t, theirs, "hello")
	arrived(t, fd, 5)
	if quiet(fd) || hungUp(fd) {
		t.Error("a socket with bytes is quiet, or hung up")
	}
	for _, want := range []string{"hel", "lo"} {
		n, stamp, again, err := recv.receive(fd, buf)
		if string(buf[:n]) != want || stamp != 0 || again || err != nil {
			t.Errorf("got %q, stamp %d, again %v, %v; want %q without a stamp", buf[:n], stamp, again, err, want)
		}
	}
	theirs.Close()
	for { // the end is on its way
		n, _, again, err := recv.receive(fd, buf)
		if again {
			continue
		}
		if n != 0 || err != nil {
			t.Errorf("at the end: %d bytes, %v", n, err)
		}
		break
	}
	if quiet(fd) || !hungUp(fd) {
		t.Error("a closed socket is quiet, or not hung up")
	}
}

// The path from the socket to the moment allocates nothing, for a loop and for
// a connection that a goroutine reads.
func TestReceiveAllocatesNothing(t *testing.T) {
	hello := []byte("hello")
	t.Run("loop", func(t *testing.T) {
		ours, theirs := pair(t)
		fd, _ := detach(ours, true)
		defer closeFD(fd)
		lp := newLoop(New(Config{}), nil, 1)
		read := testing.AllocsPerRun(200, func() {
			theirs.Write(hello)
			for {
				n, stamp, again, _ := lp.recv.receive(fd, lp.buf)
				if again {
					continue
				}
				r := lp.clock.now()
				m := lp.clock.moment(r, stamp)
				if m.blind = lp.vigil.blind(r.mono, m.lag); n != 5 {
					t.Errorf("%d bytes", n)
				}
				return
			}
		})
		if read != 0 {
			t.Errorf("%v allocations a read", read)
		}
	})
	t.Run("goroutine", func(t *testing.T) {
		ours, theirs := pair(t)
		conn := newStampConn(ours, newClock(time.Now()))
		buf := make([]byte, 10)
		one := func() {
			theirs.Write(hello)
			if n, err := conn.Read(buf); n != 5 || err != nil {
				t.Fatal(n, err)
			}
		}
		if read := testing.AllocsPerRun(200, one); read != 0 || conn.tally.kernel < 200 {
			t.Errorf("%v allocations a read, %d stamped", read, conn.tally.kernel)
		}
	})
}

func TestFilesBeyondTheLimitSayWhatToDo(t *testing.T) {
	t.Parallel()
	if err := ensureFiles(10); err != nil {
		t.Errorf("10 files: %v", err)
	}
	if err := ensureFiles(1 << 40); err == nil { // no kernel allows that many, not even to root
		t.Error("a million million files were promised")
	}
}
