import TarnStore

/// Finds the targets of links.
protocol LinkFinding {
  /// The object with that primary key, or with that object key if the class has no primary key; nil
  /// if it does not exist.
  ///
  /// - Parameter path: the position of the link, for messages.
  func find(_ value: Value, in id: ClassID, at path: String) throws -> ObjectKey?
}

/// Finds targets in the current write.
struct LinkFinder: LinkFinding {
  private let session: WriteSession
  /// Classes that more objects will be imported into.
  private let coming: Set<ClassID>

  init(_ session: WriteSession, coming: Set<ClassID> = []) {
    self.session = session
    self.coming = coming
  }

  /// - Throws: `LinkComesLater` if the object does not exist, but more objects of its class follow.
  func find(_ value: Value, in id: ClassID, at path: String) throws -> ObjectKey? {
    if let found = try object(value, id) { return found }
    if coming.contains(id) { throw LinkComesLater() }
    return nil
  }

  private func object(_ value: Value, _ id: ClassID) throws -> ObjectKey? {
    if session.schema[id].primaryKey != nil { return try session.find(primaryKey: value, in: id) }
    guard case .int(let number) = value else { return nil }
    let key = ObjectKey(number)
    return try session.location(of: key, in: id) == nil ? nil : key
  }
}

/// The target of a link may be imported later.
struct LinkComesLater: Error {}
