import Foundation
import StressFaults
import Tarn
import ToolSupport

/// Forks of a writer. The child cannot use the parent's Realm; it opens the file itself, verifies
/// it, and makes the writer's next commit.
struct StressForking {
  /// Seconds after which a child that hangs ends, so that its writer does not wait for ever.
  private static let patience: UInt32 = 100
  private let worker: Worker
  private let realm: Realm

  init(_ worker: Worker, _ realm: Realm) {
    self.worker = worker
    self.realm = realm
  }

  func commitInChild(seed: UInt64) throws {
    let child = stress_fork()
    if child < 0 { throw ToolError("cannot", "fork", errno: errno) }
    if child == 0 { commitAndEnd(seed) }
    var status: Int32 = 0
    while waitpid(child, &status, 0) < 0 && errno == EINTR {}
    // It may have been started to die in a commit; then so does this process.
    if status == SIGKILL { kill(getpid(), SIGKILL) }
    if status != 0 { WorkerLine.bad("a forked child ended with status \(status)") }
  }

  private func commitAndEnd(_ seed: UInt64) -> Never {
    alarm(Self.patience)
    do {
      try realm.write {}
      Self.end("bad a forked child wrote with its parent's Realm")
    } catch {}
    // Swift's mutexes identify the thread that forked by its number in the parent, and end the
    // process if that thread then has to wait: so a child works in new threads.
    let (path, number) = (worker.path, worker.number)
    Thread.detachNewThread { Self.commit(Worker(["write", path, "\(number)", "\(seed)"])) }
    while true { sleep(1000) }
  }

  private static func commit(_ worker: Worker) {
    do {
      let realm = try Realm(configuration: worker.configuration)
      let problem =
        StressStore.problem(realm) ?? StressStockCheck(seed: worker.seed).problem(realm)
      if let problem { end("bad in a forked child: \(problem)") }
      let done = try StressWriting(worker, realm).write { $0.change(1) }
      end("ack \(done)")
    } catch let error as Realm.Error
      where [.outOfDiskSpace, .schemaMismatch].contains(error.code)
    {
      // The parent finds the same.
      end(nil)
    } catch {
      end("bad in a forked child: \(error)")
    }
  }

  /// Without the handlers of `exit`, which are the parent's.
  private static func end(_ line: String?) -> Never {
    if let line { WorkerLine.say(line) }
    _exit(0)
  }
}
