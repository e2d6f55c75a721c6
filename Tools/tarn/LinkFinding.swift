import TarnStore

/// Finds the objects that links lead to.
protocol LinkFinding {
  /// The object of a primary key, or of an object key where the class has none; nil if there is
  /// none.
  ///
  /// - Parameter path: where the link is, for messages.
  func find(_ value: Value, in id: ClassID, at path: String) throws -> ObjectKey?
}

/// Finds them in the write that is under way.
struct LinkFinder: LinkFinding {
  private let session: WriteSession
  /// Classes of which more objects are to come.
  private let coming: Set<ClassID>

  init(_ session: WriteSession, coming: Set<ClassID> = []) {
    self.session = session
    self.coming = coming
  }

  /// - Throws: `LinkComesLater` if the object is not there, but more of its class are to come.
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

/// A link whose target may still come.
struct LinkComesLater: Error {}
