/// Programs that show where turns come from: each observes, lets another process commit, and ends
/// with the observer's call.
enum SchedulerPrograms {
  /// What all of them have.
  private static let common = """
    import Dispatch
    import Foundation
    import Tarn

    class Note: Object { @Persisted var text: String }

    let words = CommandLine.arguments
    let configuration = Realm.Configuration(
      fileURL: URL(fileURLWithPath: words[2]), objectTypes: [Note.self])

    /// Against a hang.
    func limitTime() { alarm(120) }

    func commit() throws {
      let realm = try Realm(configuration: configuration)
      try realm.write { _ = realm.create(Note.self, value: ["text": "hello"]) }
    }

    func commitInAnotherProcess() {
      let other = Process()
      other.executableURL = URL(fileURLWithPath: words[0])
      other.arguments = ["commit", words[2]]
      try! other.run()
    }

    func told(_ change: RealmCollectionChange<Results<Note>>, _ end: () -> Void) {
      switch change {
      case .initial(let notes):
        print("initial", notes.count)
        commitInAnotherProcess()
      case .update(let notes, let deletions, let insertions, let modifications):
        print("update", Array(notes).map { $0.text }, deletions, insertions, modifications)
        end()
      case .error(let error): fatalError("\\(error)")
      }
    }

    """

  /// Its first word says what it waits in; `plain-` is a program that has nothing of the kind.
  static let synchronous =
    common + """
      limitTime()

      func observe() throws -> NotificationToken {
        try Realm(configuration: configuration).objects(Note.self).observe { change in
          told(change) { exit(0) }
        }
      }

      /// Runs on a thread that has no run loop, and waits for its end.
      func onAPlainThread(_ work: @escaping @Sendable () -> Void) {
        let done = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
          work()
          done.signal()
        }
        done.wait()
      }

      switch words[1] {
      case "commit": try commit()
      case "run-loop":
        let token = try observe()
        withExtendedLifetime(token) { RunLoop.main.run() }
      case "dispatch-main":
        let token = try observe()
        withExtendedLifetime(token) { dispatchMain() }
      case "plain-observe": onAPlainThread { _ = try! observe() }
      case "plain-write":
        onAPlainThread { _ = try! Realm(configuration: configuration).writeAsync {} }
      case "plain-begin":
        onAPlainThread { _ = try! Realm(configuration: configuration).beginAsyncWrite {} }
      case "plain-commit":
        onAPlainThread {
          let realm = try! Realm(configuration: configuration)
          realm.beginWrite()
          realm.commitAsyncWrite()
        }
      default: exit(2)
      }
      """

  /// Its main function is asynchronous: the main thread serves the main actor.
  static let asynchronous =
    common + """
      @main struct Program {
        @MainActor static func main() async throws {
          limitTime()
          if words[1] == "commit" { return try commit() }
          let notes = try await Realm(configuration: configuration).objects(Note.self)
          if words[1] == "loop" {
            for await change in notes.changes {
              switch change {
              case .initial(let notes):
                print("initial", notes.count)
                commitInAnotherProcess()
              case .update(let notes, let changes):
                print("update", Array(notes).map { $0.text }, changes.insertions)
                return
              case .error(let error): fatalError("\\(error)")
              }
            }
          }
          var token: NotificationToken?
          await withCheckedContinuation { (ended: CheckedContinuation<Void, Never>) in
            token = notes.observe { change in told(change) { ended.resume() } }
          }
          token?.invalidate()
        }
      }
      """
}
