import TarnStore
import TarnText

/// How many of the objects of a class that a file must have it has.
struct ClassProgress: Equatable {
  /// The conditions by which the server chooses the rows that it sends.
  var queries: [KeptQuery] = []
  /// The queries all of whose rows are here.
  var complete: Set<KeptQuery> = []
  /// The primary key of the last row fetched for the other queries; nil before the first page.
  var last: Value?
  /// The number of rows for the other queries at the first page, and of those fetched.
  var expected = 0
  var fetched = 0
  /// Whether objects may be here that no query selects any more.
  var hasOthers = false
  /// Whether any row may differ: a transaction of the server changed more than one step can hold.
  var isBehind = false

  /// Whether all objects are here, and no others.
  var isComplete: Bool { Set(queries) == complete && !hasOthers && !isBehind }

  /// Whether objects must be fetched or removed.
  var isIncomplete: Bool { hasOthers || !pending.isEmpty }

  /// Switches to other queries. Rows that several queries select are fetched once.
  mutating func take(_ wanted: [KeptQuery]) {
    guard wanted != queries else { return }
    let former = Set(queries)
    if !former.isSubset(of: wanted), !wanted.contains(KeptQuery.everything) { hasOthers = true }
    if former.contains(KeptQuery.everything), complete.contains(KeptQuery.everything) {
      // All rows are here.
      complete = Set(wanted)
    } else {
      complete.formIntersection(wanted)
    }
    if !Set(wanted).isSubset(of: former) { last = nil }
    queries = wanted
  }

  /// The queries with rows that are not here.
  var pending: [KeptQuery] { queries.filter { !complete.contains($0) } }
}

extension ClassProgress {
  static func key(_ id: ClassID) -> ReplicaKey { ReplicaKey(133, id, 0) }

  private struct Flags {
    static let others: UInt8 = 1
    static let behind: UInt8 = 2
    static let last: UInt8 = 4
  }

  var encoded: [UInt8] {
    var writer = BigEndianWriter()
    writer.write(
      (hasOthers ? Flags.others : 0) | (isBehind ? Flags.behind : 0)
        | (last == nil ? 0 : Flags.last))
    writer.write(texts: queries.map(\.text))
    writer.write(texts: complete.sorted().map(\.text))
    writer.write(count: expected)
    writer.write(count: fetched)
    if let last { writer.write(text: JSONText.text(ScalarCoder.json(last, as: .any))) }
    return writer.bytes
  }

  /// - Returns: nil for damaged bytes.
  init?(_ bytes: [UInt8]) {
    var reader = BigEndianReader(bytes)
    guard let flags: UInt8 = reader.read(), let queries = reader.readTexts(),
      let complete = reader.readTexts()
    else { return nil }
    (self.queries, self.complete) = (
      queries.map { KeptQuery($0) }, Set(complete.map { KeptQuery($0) })
    )
    guard let expected = reader.readCount(), let fetched = reader.readCount() else { return nil }
    (self.expected, self.fetched) = (expected, fetched)
    (hasOthers, isBehind) = (flags & Flags.others != 0, flags & Flags.behind != 0)
    if flags & Flags.last != 0 {
      guard let text = reader.readText(), let json = try? JSONScanner.value(in: text),
        let value = ScalarCoder.value(json, as: .any)
      else { return nil }
      last = value
    }
    guard reader.isAtEnd else { return nil }
  }
}
