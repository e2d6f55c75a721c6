package import TarnStore
import TarnText

/// The objects of a class that a file must have.
package struct Subscription: Equatable, Sendable {
  package var name: String?
  package var className: String
  /// The condition on the objects as a filter string; for people and for comparisons.
  package var condition: String
  /// The condition on the rows of the class's table.
  package var sql: String
  /// The time of creation, in microseconds since 1970.
  package var created: Int64
  package var updated: Int64

  /// The condition of all objects.
  package static let everything = "true"

  package init(
    name: String?, className: String, condition: String, sql: String, created: Int64,
    updated: Int64
  ) {
    self.name = name
    self.className = className
    self.condition = condition
    self.sql = sql
    self.created = created
    self.updated = updated
  }

  /// Whether both select the same objects.
  package func isSameQuery(as other: Subscription) -> Bool {
    className.utf8.elementsEqual(other.className.utf8) && sql.utf8.elementsEqual(other.sql.utf8)
  }
}

/// The subscriptions of a file, stored in the file. Any process changes them; the process with the
/// session fulfills them.
package struct SubscriptionSet: Equatable, Sendable {
  package enum State: Equatable, Sendable {
    /// Not all objects are here yet, or the session has not seen the set.
    case pending
    /// All objects are here, and stay up to date.
    case complete
    /// The server cannot evaluate a query. The former queries stay in effect.
    case failed(String)
  }

  /// Grows with each change of the subscriptions.
  package var version: UInt64 = 0
  package var subscriptions: [Subscription] = []
  package var state = State.pending
  /// The classes whose objects are only sent to the server.
  package var asymmetric: Set<String> = []

  package init() {}

  /// The different conditions on a class.
  func queries(on name: String) -> [KeptQuery] {
    Set(subscriptions.filter { $0.className == name }.map { KeptQuery($0.sql) }).sorted()
  }
}

// MARK: - As a record

extension SubscriptionSet {
  static let key = ReplicaKey(132, ClassID(0), 0)
  private static let format: UInt8 = 1

  /// The set in a snapshot; nil for a file without one, which has all objects of its classes.
  ///
  /// - Throws: `.corrupted` for damaged bytes.
  package static func read(in snapshot: Snapshot) throws(StorageError) -> SubscriptionSet? {
    guard let bytes = try ReplicaRecords.bytes(key, in: snapshot.transaction) else { return nil }
    guard let set = SubscriptionSet(decoding: bytes) else {
      throw StorageError(
        .corrupted, operation: "read the subscriptions", path: "", detail: "they are damaged")
    }
    return set
  }

  var encoded: [UInt8] {
    var writer = BigEndianWriter()
    writer.write(Self.format)
    writer.write(version)
    switch state {
    case .pending: writer.write(UInt8(0))
    case .complete: writer.write(UInt8(1))
    case .failed: writer.write(UInt8(2))
    }
    if case .failed(let reason) = state { writer.write(text: reason) }
    writer.write(count: asymmetric.count)
    for name in asymmetric.sorted() { writer.write(text: name) }
    writer.write(count: subscriptions.count)
    for one in subscriptions {
      writer.write(UInt8(one.name == nil ? 0 : 1))
      for text in [one.name ?? "", one.className, one.condition, one.sql] {
        writer.write(text: text)
      }
      writer.write(one.created)
      writer.write(one.updated)
    }
    return writer.bytes
  }

  private init?(decoding bytes: [UInt8]) {
    var reader = BigEndianReader(bytes)
    guard reader.read(UInt8.self) == Self.format, let version: UInt64 = reader.read(),
      let state: UInt8 = reader.read()
    else { return nil }
    self.version = version
    switch state {
    case 0: self.state = .pending
    case 1: self.state = .complete
    default:
      guard let reason = reader.readText() else { return nil }
      self.state = .failed(reason)
    }
    guard let names = reader.readCount() else { return nil }
    for _ in 0..<names {
      guard let name = reader.readText() else { return nil }
      asymmetric.insert(name)
    }
    guard let count = reader.readCount() else { return nil }
    for _ in 0..<count {
      guard let isNamed: UInt8 = reader.read(), let name = reader.readText(),
        let className = reader.readText(), let condition = reader.readText(),
        let sql = reader.readText(), let created: Int64 = reader.read(),
        let updated: Int64 = reader.read()
      else { return nil }
      subscriptions.append(
        Subscription(
          name: isNamed == 0 ? nil : name, className: className, condition: condition, sql: sql,
          created: created, updated: updated))
    }
    guard reader.isAtEnd else { return nil }
  }
}

extension Store {
  /// Changes the subscriptions of the file, in a separate commit that wakes all processes.
  ///
  /// - Parameter change: receives the set, which is empty before the first change; returns whether
  ///   it has changed it.
  /// - Returns: the set afterwards.
  @discardableResult
  package func editSubscriptions(
    _ change: (inout SubscriptionSet) throws(StorageError) -> Bool
  ) throws(StorageError) -> SubscriptionSet {
    try editRecords { snapshot, records throws(StorageError) in
      var set = try SubscriptionSet.read(in: snapshot) ?? SubscriptionSet()
      if try change(&set) { records.set(SubscriptionSet.key, set.encoded) }
      return set
    }
  }
}
