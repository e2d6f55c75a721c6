/// That a receiver got a delivery and refused it, as opposed to a receiver that is away.
struct Refusal: Equatable, Sendable {
  /// Whether it will refuse the same bytes again, by its own words.
  var isFinal = false
  /// The status of an HTTP answer, or of a program's end.
  var code: Int?
  /// The beginning of what it said. It may have values of properties, so it is in no message.
  var answer = ""
}

/// Whether a refused delivery is sent again, is made smaller, or is given up.
///
/// A batch is everything since the last one. So before anything is given up, the commits of a
/// refused batch are sent one by one, and the objects of a refused commit one by one: only objects
/// that are refused alone are given up.
struct Refusals: Sendable {
  enum Size: Equatable, Sendable { case batch, commit, object }
  enum Verdict: Equatable, Sendable { case again, smaller, giveUp }

  /// How often a delivery of one size is tried.
  let attemptsMax: Int
  private(set) var size = Size.batch
  private(set) var attempts = 0
  /// The end of the batch that was made smaller.
  private var through: UInt64 = 0

  init(attemptsMax: Int) { self.attemptsMax = attemptsMax }

  /// - Parameters:
  ///   - version: the end of the batch.
  ///   - isOneCommit: whether it cannot be divided into commits.
  mutating func refused(
    isFinal: Bool, upTo version: UInt64, isOneCommit: Bool
  ) -> Verdict {
    attempts += 1
    guard isFinal || attempts >= attemptsMax else { return .again }
    attempts = 0
    switch size {
    case .batch:
      through = version
      size = isOneCommit ? .object : .commit
      return .smaller
    case .commit:
      size = .object
      return .smaller
    case .object: return .giveUp
    }
  }

  /// An object was taken or given up.
  mutating func isDone() { attempts = 0 }

  /// Everything up to a version was taken or given up.
  mutating func delivered(upTo version: UInt64) {
    attempts = 0
    size = version >= through ? .batch : .commit
  }
}
