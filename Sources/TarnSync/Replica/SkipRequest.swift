package import TarnStore

/// The changes that a user has asked a file's session to roll back instead of sending them. A
/// record of the file, because rolling them back needs the server's rows.
package struct SkipRequest: Equatable {
  /// Commits, by the versions that they made.
  package private(set) var versions: Set<UInt64> = []
  /// Classes all of whose waiting changes are to be rolled back.
  package private(set) var classes: Set<String> = []

  var isEmpty: Bool { versions.isEmpty && classes.isEmpty }

  private static let key = ReplicaKey(141, ClassID(0), 0)

  /// Requests that the session rolls back a commit.
  ///
  /// - Throws: `StorageError`: `.notFound` if the commit is not waiting to be sent.
  package static func skip(version: UInt64, in store: Store) throws(StorageError) {
    let report = try UnsentReport.of(store)
    guard report?.commits.contains(where: { $0.version == version }) == true else {
      throw StorageError(
        .notFound, operation: "skip version \(version)", path: store.path,
        detail: "no unsent commit made this version; 'tarn sync unsent' lists those that wait")
    }
    try edit(store) { $0.versions.insert(version) }
  }

  /// Requests that the stuck changes of a class are undone, and that objects which the file had
  /// before its first exchange and the server refuses are deleted here.
  ///
  /// - Throws: `StorageError`: `.notFound` without such changes.
  package static func skip(class name: String, in store: Store) throws(StorageError) {
    guard try isStuck(class: name, in: store) else {
      throw StorageError(
        .notFound, operation: "skip the changes of \(name)", path: store.path,
        detail: "no class with this name is stuck; 'tarn sync unsent' lists the stuck classes")
    }
    try edit(store) { $0.classes.insert(name) }
  }

  /// Whether the server refuses the changes of a class.
  package static func isStuck(class name: String, in store: Store) throws(StorageError) -> Bool {
    let snapshot = try store.newestSnapshot()
    if try StuckClasses.read(in: snapshot)[name] != nil { return true }
    return try StuckClasses.read(StuckClasses.olderKey, in: snapshot)[name] != nil
  }

  private static func edit(
    _ store: Store, _ change: (inout SkipRequest) -> Void
  ) throws(StorageError) {
    try store.editRecords { snapshot, records throws(StorageError) in
      var request = try read(in: snapshot)
      change(&request)
      records.set(key, request.encoded)
    }
  }

  static func read(in snapshot: Snapshot) throws(StorageError) -> SkipRequest {
    guard let bytes = try ReplicaRecords.bytes(key, in: snapshot.transaction) else {
      return SkipRequest()
    }
    var reader = BigEndianReader(bytes)
    guard let names = reader.readTexts(), let numbers = reader.readTexts(), reader.isAtEnd else {
      throw ReplicaObjects.damaged()
    }
    var request = SkipRequest()
    request.classes = Set(names)
    request.versions = Set(numbers.compactMap { UInt64($0) })
    return request
  }

  private var encoded: [UInt8]? {
    if isEmpty { return nil }
    var writer = BigEndianWriter()
    writer.write(texts: classes.sorted())
    writer.write(texts: versions.sorted().map { "\($0)" })
    return writer.bytes
  }

  /// The next commit to roll back after a version.
  func next(after version: Version) -> Version? {
    versions.filter { $0 > version.rawValue }.min().map { Version($0) }
  }

  /// Removes the requests that were carried out.
  static func end(
    _ replica: Replica, _ change: (inout SkipRequest) -> Void
  ) throws(StorageError) {
    let snapshot = try replica.store.newestSnapshot()
    var objects = ReplicaObjects(snapshot)
    var request = try read(in: snapshot)
    change(&request)
    objects.set(key, request.encoded)
    try replica.cursor.keep(objects.records)
  }

  mutating func remove(through version: Version) {
    versions = versions.filter { $0 > version.rawValue }
  }

  mutating func remove(version: Version) { versions.remove(version.rawValue) }
  mutating func remove(class name: String) { classes.remove(name) }
}
