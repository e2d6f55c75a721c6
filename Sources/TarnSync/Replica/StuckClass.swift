import TarnStore

/// A class whose changes the server refuses, for a reason other than their values. The changes of
/// other classes are sent without them.
package struct StuckClass: Equatable, Sendable {
  package let className: String
  /// The server's last answer.
  package var error: ServerError
  /// When it was found, in microseconds since 1970.
  package let since: Int64
  /// How often the server has been asked since then.
  package var attempts: UInt64 = 1

  /// The error for objects that the file had before its first exchange: the server refuses their
  /// values.
  var problemOfOlder: ServerError {
    ServerError(
      state: error.state, "send objects of \(className) from before the first exchange",
      error.message, detail: error.detail,
      hint: (error.hint.isEmpty ? "" : error.hint + "\n")
        + "They stay, and are sent again by the next session."
        + " 'tarn sync skip FILE \(className)' deletes them here.")
  }

  /// The error with the remedy.
  var problem: ServerError {
    ServerError(
      state: error.state, "send the changes of \(className)", error.message, detail: error.detail,
      hint: (error.hint.isEmpty ? "" : error.hint + "\n")
        + "The other classes are exchanged. 'tarn sync unsent FILE' lists the changes that"
        + " wait, 'tarn sync skip FILE \(className)' rolls them back.")
  }
}

/// The classes that are stuck, and how often the server has given the same answer to one push, as a
/// record of the file: a command that runs once continues to count where the last one ended.
struct StuckClasses: Equatable {
  /// Equal answers to one push.
  struct Failure: Equatable {
    /// The version after which its commits begin.
    let after: UInt64
    let state: String
    var count: UInt64
  }

  var failure: Failure?
  var classes: [StuckClass] = []

  static let key = ReplicaKey(140, ClassID(0), 0)
  /// Another record of this form: the classes with objects from before the first exchange that the
  /// server refuses. They block no changes.
  static let olderKey = ReplicaKey(142, ClassID(0), 0)

  /// One error for all of them, with the remedy; nil without one.
  var problem: ServerError? {
    guard classes.count > 1, let first = classes.first else { return classes.first?.problem }
    let sorted = classes.sorted { $0.className < $1.className }
    let lines = sorted.map { one in
      let code = one.error.state.isEmpty ? "" : " (SQLSTATE \(one.error.state))"
      return "- \(one.className): \(one.error.message)\(code)"
    }
    return ServerError(
      state: first.error.state,
      "send the changes of \(sorted.map(\.className).joined(separator: ", "))",
      "the server does not accept them", detail: lines.joined(separator: "\n"),
      hint: "The other classes are exchanged. 'tarn sync unsent FILE' lists the changes that wait,"
        + " 'tarn sync skip FILE CLASS' rolls those of a class back.")
  }

  subscript(name: String) -> StuckClass? { classes.first { $0.className == name } }

  static func read(
    _ key: ReplicaKey = key, in snapshot: Snapshot
  ) throws(StorageError) -> StuckClasses {
    guard let bytes = try ReplicaRecords.bytes(key, in: snapshot.transaction) else {
      return StuckClasses()
    }
    guard let found = StuckClasses(decoding: bytes) else { throw ReplicaObjects.damaged() }
    return found
  }

  /// Adds them to the records to store.
  func store(_ key: ReplicaKey = key, in objects: inout ReplicaObjects) {
    objects.set(key, self == StuckClasses() ? nil : encoded)
  }

  private var encoded: [UInt8] {
    var writer = BigEndianWriter()
    writer.write(failure?.after ?? 0)
    writer.write(failure?.count ?? 0)
    writer.write(text: failure?.state ?? "")
    writer.write(count: classes.count)
    for one in classes {
      writer.write(one.since)
      writer.write(one.attempts)
      let error = one.error
      for text in [
        one.className, error.state, error.operation, error.message, error.detail, error.hint,
      ] { writer.write(text: text) }
    }
    return writer.bytes
  }

  init() {}

  private init?(decoding bytes: [UInt8]) {
    var reader = BigEndianReader(bytes)
    guard let after: UInt64 = reader.read(), let count: UInt64 = reader.read(),
      let state = reader.readText(), let classCount = reader.readCount()
    else { return nil }
    if count > 0 { failure = Failure(after: after, state: state, count: count) }
    for _ in 0..<classCount {
      guard let since: Int64 = reader.read(), let attempts: UInt64 = reader.read() else {
        return nil
      }
      var texts: [String] = []
      for _ in 0..<6 {
        guard let text = reader.readText() else { return nil }
        texts.append(text)
      }
      let error = ServerError(
        state: texts[1], texts[2], texts[3], detail: texts[4], hint: texts[5])
      classes.append(
        StuckClass(className: texts[0], error: error, since: since, attempts: attempts))
    }
    guard reader.isAtEnd else { return nil }
  }
}
