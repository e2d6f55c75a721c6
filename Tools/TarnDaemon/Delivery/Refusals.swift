/// That a receiver got a delivery and refused it, as opposed to a receiver that is away.
struct Refusal: Equatable, Sendable {
  /// Whether it will refuse the same bytes again, by its own words.
  var isFinal = false
  /// The status of an HTTP answer, or of a program's end.
  var code: Int?
  /// The beginning of what it said. It may have values of properties, so it is in no message.
  var answer = ""
  /// The part of the batch that it refused after it took the parts before; nil for the whole.
  var part: SentPart?
}

/// Whether a refused batch is sent again, or divided, and which commits are sent next.
///
/// A batch is everything since the last one. So before anything is given up, the commits of a
/// refused batch are halved, and then the objects of a refused commit: only objects that are
/// refused alone are given up.
struct Refusals: Sendable {
  enum Verdict: Equatable, Sendable { case again, commits, objects }

  /// How often a delivery is tried before it is divided, or an object is given up.
  let attemptsMax: Int
  private(set) var attempts = 0
  /// Where the batches end in which a refused one is sent, the next one last.
  private var ends: [UInt64] = []

  var isDividing: Bool { !ends.isEmpty }

  init(attemptsMax: Int) { self.attemptsMax = attemptsMax }

  /// The end of the next batch; nil if it is everything.
  ///
  /// - Parameter version: the receiver has everything up to there.
  mutating func limit(after version: UInt64) -> UInt64? {
    while let end = ends.last, end <= version { ends.removeLast() }
    return ends.last
  }

  /// A batch was refused.
  ///
  /// - Parameters:
  ///   - isDivisible: whether its commits can be sent apart.
  mutating func refused(
    isFinal: Bool, _ versions: ClosedRange<UInt64>, isDivisible: Bool
  ) -> Verdict {
    // A batch that was tried often enough is divided, and its parts are tried only once.
    let isLast = isLast(isFinal || isDividing)
    guard isLast else { return .again }
    attempts = 0
    let count = versions.upperBound - versions.lowerBound
    guard isDivisible, count > 1 else { return .objects }
    if ends.isEmpty { ends = [versions.upperBound] }
    ends.append(versions.lowerBound + count / 2)
    return .commits
  }

  /// A single object was refused.
  ///
  /// - Returns: whether it is given up.
  mutating func refusedObject(isFinal: Bool) -> Bool { isLast(isFinal) }

  private mutating func isLast(_ isFinal: Bool) -> Bool {
    attempts += 1
    return isFinal || attempts >= attemptsMax
  }

  /// Something was taken or given up.
  mutating func isDone() { attempts = 0 }
}
