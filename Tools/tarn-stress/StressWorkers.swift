import Foundation
import Tarn
import TarnStore
import ToolSupport

/// Output of a process that the stress run or a test has started: one line per message, written at
/// once, because the process may be killed at any moment.
enum WorkerLine {
  static func say(_ text: String) {
    let bytes = Array((text + "\n").utf8)
    var start = 0
    while start < bytes.count {
      let count = bytes[start...].withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
      // The process that started this one has ended.
      if count < 0 && errno != EINTR { exit(ExitCode.failure.rawValue) }
      start += max(0, count)
    }
  }

  /// Reports a problem and exits.
  static func bad(_ text: String) -> Never {
    say("bad \(text)")
    exit(ExitCode.failure.rawValue)
  }
}

/// `tarn-stress worker KIND FILE [number] [seed] [sabotage] [manner]`: processes not started by
/// hand.
final class Worker {
  let kind: String
  let path: String
  let number: Int
  let seed: UInt64
  let sabotage: String?
  /// The kind of writer or observer of a stress run; nil for the tests' own.
  let manner: String?

  init(_ arguments: [String]) {
    func argument(_ index: Int) -> String? {
      index < arguments.count ? arguments[index] : nil
    }
    kind = argument(0) ?? ""
    path = argument(1) ?? ""
    number = argument(2).flatMap { Int($0) } ?? 0
    seed = argument(3).flatMap { UInt64($0) } ?? 1
    sabotage = argument(4)
    manner = argument(5)
  }

  func run() throws {
    SignalTrap.setUp()
    switch kind {
    case "write": try runTolerantly(write)
    case "observe": try runTolerantly(observe)
    case "pulse": try runTolerantly { try SoakPulsing(self).run() }
    case "listen": try runTolerantly { try SoakListening(self).run() }
    case "copy": try runTolerantly { try SoakCopying(self).run() }
    case "migrate": try runTolerantly { _ = try Realm(configuration: configuration) }
    case "fill": try StressStore.fill(path, isDurable: number == 1)
    case "commit-once": try commitOnce()
    case "commit-blind":
      guard system("mount -t tmpfs -o ro none /proc") == 0 else { return WorkerLine.say("none") }
      try commitOnce()
    case "hold-gate": try holdGate()
    case "commit-async": try AsyncWriting(self).commitOne()
    case "commit-group": try AsyncWriting(self).commitMany()
    case "stand-in-line": try AsyncWriting(self).standInLine()
    case "write-threads": writeOnThreads()
    case "fail-disk": FailingDisk.run(path, step: number, sabotage ?? "")
    case "resume-disk": ResumedDisk.run(path, step: number, sabotage ?? "")
    case "deliver": ResumedDisk.run(path, step: nil, sabotage ?? "")
    case "fail-copy": try FailingCopy.run(path, number, sabotage ?? "")
    case "power-record": try PowerWorkload(self).run(sabotage ?? "")
    case "power-check": try PowerCheck(self).run()
    case "fail-calls": try FailingCalls(self).run()
    case "read-cut": try SystemWalls(configuration: configuration).readCutFile()
    case "fill-limit": try SystemWalls(configuration: configuration).writeUpToLimit(number)
    case "read": try hold()
    case "open": try open()
    case "check": try check()
    case "damage": try DamageWorker(self).run()
    case "look": DamageReader.run(path)
    case "try": DamageWorker.tryAll(path)
    case "fork": try forked()
    case "feed-commit": try commitRandomly()
    case "feed-consume": try consumeFeed()
    case "feed-hold": try holdFeed()
    default: WorkerLine.bad("no worker '\(kind)'")
    }
  }

  /// Half of the processes of a stress run on a durable file wait for one sync only.
  var configuration: Realm.Configuration {
    var configuration = StressStore.configuration(path)
    if manner != nil, seed % 2 == 1, configuration.durability == .full {
      configuration.durability = .consistent
    }
    return configuration
  }

  /// One write of two rows and the totals; with TARN_FAULT set the process dies during it.
  private func commitOnce() throws {
    let realm = try Realm(configuration: configuration)
    WorkerLine.say("ready")
    let writing = StressWriting(self, realm)
    let sequence = try writing.write { $0.transfer() }
    WorkerLine.say("ack \(sequence)")
  }

  /// Takes the write lock and holds it, until the process is killed or receives SIGUSR1.
  private func holdGate() throws {
    var wanted = sigset_t()
    sigemptyset(&wanted)
    sigaddset(&wanted, SIGUSR1)
    pthread_sigmask(SIG_BLOCK, &wanted, nil)
    let realm = try Realm(configuration: configuration)
    realm.beginWrite()
    realm.object(ofType: StressAccount.self, forPrimaryKey: 0)?.balance += 1
    WorkerLine.say("held")
    var got: Int32 = 0
    sigwait(&wanted, &got)
    realm.cancelWrite()
    WorkerLine.say("let go")
  }

  /// Several threads that write without pause until they are asked to stop, the first with the
  /// worker's number. Reports the number of writes of each.
  private func writeOnThreads() {
    let counts = Lock<[Int: Int]>([:])
    let group = DispatchGroup()
    for index in 0..<4 {
      group.enter()
      Thread.detachNewThread { [path, number] in
        let worker = Worker(["write", path, "\(number + index)"])
        do {
          let realm = try Realm(configuration: worker.configuration, queue: nil)
          let count = try StressWriting(worker, realm).transferUntilStopped()
          counts.withLock { $0[index] = count }
        } catch {
          WorkerLine.bad("\(error)")
        }
        group.leave()
      }
    }
    WorkerLine.say("started")
    group.wait()
    WorkerLine.say(
      "counts " + counts.withLock { $0.values.map(String.init) }.joined(separator: " "))
  }

  /// Reads a version and holds it, until the process is killed.
  private func hold() throws {
    let realm = try Realm(configuration: configuration)
    realm.autorefresh = false
    let accounts = realm.objects(StressAccount.self)
    WorkerLine.say("reading \(accounts.count)")
    // Until it is killed, or its parent has ended and closed the pipe.
    var output = pollfd(fd: STDOUT_FILENO, events: 0, revents: 0)
    while poll(&output, 1, -1) < 0 && errno == EINTR {}
  }

  /// Opens the file and reports the outcome; also writes if the last argument is "write".
  private func open() throws {
    var configuration = configuration
    configuration.readOnly = sabotage == "read-only"
    do {
      let realm = try Realm(configuration: configuration)
      let count = realm.objects(StressAccount.self).count
      if sabotage == "write" {
        let writing = StressWriting(self, realm)
        for _ in 0..<max(1, number) { _ = try writing.write { $0.grow() } }
      }
      WorkerLine.say("opened \(count)")
    } catch let error as Realm.Error {
      WorkerLine.say("error \(error.code) \(error.message)")
    }
  }

  /// Swift's mutexes identify the thread that forked by its number in the parent, and end the
  /// process if that thread then has to wait: so a child works in new threads.
  private func openInNewThread(_ path: String) {
    let done = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      let mine = try? Realm(configuration: StressStore.configuration(path))
      WorkerLine.say("child opened \(mine?.objects(StressAccount.self).count ?? -1)")
      done.signal()
    }
    done.wait()
  }

  /// The child's use of its parent's Realm, which only throws, and of one that it opens itself.
  private func forked() throws {
    let realm = try Realm(configuration: configuration)
    let before = realm.objects(StressAccount.self).count
    typealias Fork = @convention(c) () -> pid_t
    let fork = unsafeBitCast(dlsym(nil, "fork"), to: Fork.self)
    let child = fork()
    if child == 0 {
      do {
        try realm.write {}
        WorkerLine.say("child wrote")
      } catch {
        WorkerLine.say("child error \(error)")
      }
      openInNewThread(path)
      _exit(0)
    }
    var status: Int32 = 0
    waitpid(child, &status, 0)
    let writing = StressWriting(self, realm)
    WorkerLine.say("parent \(before) \(try writing.write { $0.transfer() })")
  }

  private func check() throws {
    let realm = try Realm(configuration: configuration)
    if let problem = StressStore.problem(realm) { WorkerLine.bad(problem) }
    WorkerLine.say("sound")
  }
}
