import Foundation
import StressFaults
import Tarn
import TarnStore
import ToolSupport

/// Reports a disk that fails for a while, and a program that writes again when it works.
@MainActor struct ResumedDisk {
  private let realm: Realm

  /// - Parameters:
  ///   - step: the LMDB step of a commit that fails; 0 for a `flush()` that does, nil for the
  ///     delivery of a cursor.
  ///   - level: the name of the durability.
  nonisolated static func run(_ path: String, step: Int?, _ level: String) -> Never {
    Task { @MainActor in
      do {
        var configuration = StressStore.configuration(path)
        configuration.durability =
          Realm.Configuration.Durability.allCases.first { "\($0)" == level } ?? .full
        let disk = try await ResumedDisk(realm: Realm(configuration: configuration))
        if let step { try await disk.run(step) } else { try disk.deliver() }
        exit(ExitCode.success.rawValue)
      } catch {
        WorkerLine.bad("\(error)")
      }
    }
    dispatchMain()
  }

  /// Reports whether a cursor syncs a version before it hands it over.
  private func deliver() throws {
    let cursor = try realm.cursor("reader")
    write("wrote", 1)
    stress_fail_next(stress_sync, EIO)
    say("delivered") { _ = try cursor.next() }
    stress_fail_next(stress_sync, 0)
    say("resumed") { try realm.resumeWriting() }
    say("again") {
      guard let batch = try cursor.next() else { return WorkerLine.say("nothing") }
      try batch.acknowledge()
    }
  }

  private func run(_ step: Int) async throws {
    var told: [Int] = []
    let writers = realm.objects(StressWriter.self)
    let token = writers.observe { change in
      if case .update(let writers, _, _, _) = change { told.append(writers.count) }
    }
    await turn()
    write("before", 1)
    let frozen = realm.freeze().objects(StressWriter.self)
    switch step {
    case 1: stress_fail_next(stress_pages, EIO)
    case 2: stress_fail_next(stress_sync, EIO)
    case 3: stress_fail_next(stress_header, EIO)
    default: stress_fail_next(stress_sync, EIO)
    }
    if step == 0 { say("failed") { try realm.flush() } } else { write("failed", 2) }
    write("refused", 3)
    stress_before_sync { stress_fail_next(stress_sync, EIO) }
    say("still") { try realm.resumeWriting() }
    stress_before_sync(nil)
    stress_fail_next(stress_sync, 0)
    say("resumed") { try realm.resumeWriting() }
    write("after", 4)
    say("flushed") { try realm.flush() }
    await turn()
    WorkerLine.say("shown \(writers.map(\.id).sorted()) frozen \(frozen.map(\.id).sorted())")
    WorkerLine.say("told \(told)")
    if let problem = StressStore.problem(realm) { WorkerLine.bad(problem) }
    token.invalidate()
  }

  /// Returns after everything that was scheduled on the main thread before it.
  private func turn() async {
    await withCheckedContinuation { continuation in
      DispatchQueue.main.async { continuation.resume() }
    }
  }

  private func write(_ name: String, _ id: Int) {
    say(name) {
      try realm.write {
        realm.create(StressWriter.self, value: ["id": id, "sequence": 1])
        realm.object(ofType: StressTotal.self, forPrimaryKey: 0)!.commits += 1
      }
    }
  }

  private func say(_ name: String, _ body: () throws -> Void) {
    do {
      try body()
      WorkerLine.say("\(name) fine")
    } catch {
      WorkerLine.say("\(name) \((error as? Realm.Error).map { "\($0.code)" } ?? "\(error)")")
    }
  }
}
