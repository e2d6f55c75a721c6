import Foundation
import StressFaults
import Tarn
import ToolSupport

/// Reports a disk that fails once, at one step of one kind of write, and the writes after it.
@MainActor struct FailingDisk {
  /// How many writes of a kind are queued together.
  private static let groupCount = 5

  private let realm: Realm
  private let kind: String

  /// - Parameter step: the LMDB step that fails; nothing fails if it is never reached.
  nonisolated static func run(_ path: String, step: Int, _ kind: String) -> Never {
    Task { @MainActor in
      do {
        let realm = try await Realm(configuration: StressStore.configuration(path))
        try await FailingDisk(realm: realm, kind: kind).run(step)
        exit(ExitCode.success.rawValue)
      } catch {
        WorkerLine.bad("\(error)")
      }
    }
    dispatchMain()
  }

  private func run(_ step: Int) async throws {
    var told: [Int] = []
    let writers = realm.objects(StressWriter.self)
    let token = writers.observe { change in
      if case .update(let writers, _, _, _) = change { told.append(writers.count) }
    }
    // The observer's first call comes before the first write.
    await withCheckedContinuation { continuation in
      DispatchQueue.main.async { continuation.resume() }
    }
    switch step {
    case 1: stress_fail_next(stress_pages, ENOSPC)
    case 2: stress_fail_next(stress_sync, EIO)
    case 3: stress_fail_next(stress_header, EIO)
    default: break
    }
    WorkerLine.say("first \(await write(from: 1).joined(separator: " "))")
    WorkerLine.say("shown \(writers.count) in write \(realm.isInWriteTransaction)")
    WorkerLine.say("told \(told)")
    WorkerLine.say("second \(await write(from: 101).joined(separator: " "))")
    WorkerLine.say("shown \(writers.count) busy \(realm.isPerformingAsynchronousWriteOperations)")
    WorkerLine.say("gate \(outcome { try realm.write(timeout: .seconds(10)) {} })")
    if let problem = StressStore.problem(realm) { WorkerLine.bad(problem) }
    token.invalidate()
  }

  private func change(_ id: Int) {
    realm.create(StressWriter.self, value: ["id": id, "sequence": 1])
    realm.object(ofType: StressTotal.self, forPrimaryKey: 0)!.commits += 1
  }

  private func outcome(_ body: () throws -> Void) -> String {
    do {
      try body()
      return "fine"
    } catch {
      return Self.text(error)
    }
  }

  private static func text(_ error: (any Error)?) -> String {
    guard let error else { return "fine" }
    return (error as? Realm.Error).map { "\($0.code)" } ?? "\(error)"
  }

  /// Makes writes of the kind; returns the outcome of each.
  private func write(from first: Int) async -> [String] {
    switch kind {
    case "write": return [outcome { try realm.write { change(first) } }]
    case "asyncWrite":
      do {
        try await realm.asyncWrite { change(first) }
        return [Self.text(nil)]
      } catch {
        return [Self.text(error)]
      }
    case "writeAsync":
      return await completions(1) { index, done in
        realm.writeAsync({ change(first + index) }, onComplete: done)
      }
    case "commitAsyncWrite":
      return await completions(1) { index, done in
        realm.beginWrite()
        change(first + index)
        realm.commitAsyncWrite(done)
      }
    default:
      return await completions(Self.groupCount) { index, done in
        realm.beginAsyncWrite {
          change(first + index)
          realm.commitAsyncWrite(allowGrouping: true, done)
        }
      }
    }
  }

  /// Begins that many writes, and waits until each has completed.
  private func completions(
    _ count: Int, _ begin: (Int, @escaping ((any Error)?) -> Void) -> Void
  ) async -> [String] {
    await withCheckedContinuation { continuation in
      var told: [String] = []
      for index in 0..<count {
        begin(index) { error in
          told.append(Self.text(error))
          if told.count == count { continuation.resume(returning: told) }
        }
      }
    }
  }
}
