import Foundation
import Synchronization
import TarnStore

/// Runs `body` on four threads that begin together, and `meanwhile` here until they are done.
///
/// - Returns: what was wrong, as `body` says it.
func readOnFourThreads(
  rounds: Int = 30, meanwhile: () throws -> Void,
  _ body: @escaping @Sendable (_ round: Int) -> String?
) rethrows -> [String] {
  let readers = Readers(4)
  for _ in 0..<4 {
    Thread.detachNewThread {
      readers.begin()
      for round in 0..<rounds {
        if let problem = body(round) { readers.note(problem) }
      }
      readers.end()
    }
  }
  while !readers.areDone { try meanwhile() }
  return readers.problems
}

/// Threads that begin together, and what they find.
private final class Readers: Sendable {
  private let left: Atomic<Int>
  private let missing: Atomic<Int>
  private let found = Lock<[String]>([])

  init(_ count: Int) {
    left = Atomic(count)
    missing = Atomic(count)
  }

  func begin() {
    missing.subtract(1, ordering: .relaxed)
    while missing.load(ordering: .relaxed) > 0 {}
  }

  func end() { left.subtract(1, ordering: .releasing) }
  func note(_ problem: String) { found.withLock { $0.append(problem) } }
  var areDone: Bool { left.load(ordering: .acquiring) == 0 }
  var problems: [String] { found.withLock { $0 } }
}
