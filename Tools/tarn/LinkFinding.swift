import TarnStore

/// Finds the targets of links.
protocol LinkFinding {
  /// The object with that primary key, or with that object key if the class has no primary key; nil
  /// if it does not exist. Some key if it may be imported later.
  ///
  /// - Parameter path: the position of the link, for messages.
  func find(_ value: Value, in id: ClassID, at path: String) throws -> ObjectKey?

  /// Whether a target since the last call may be imported later, so that the value cannot be stored
  /// yet.
  func takeWaiting() -> Bool
}

extension LinkFinding {
  func takeWaiting() -> Bool { false }
}

/// Finds targets in the current write.
final class LinkFinder: LinkFinding {
  private let session: WriteSession
  /// Classes that more objects will be imported into.
  private let coming: Set<ClassID>
  private var isWaiting = false

  init(_ session: WriteSession, coming: Set<ClassID> = []) {
    self.session = session
    self.coming = coming
  }

  func find(_ value: Value, in id: ClassID, at path: String) throws -> ObjectKey? {
    if let found = try object(value, id) { return found }
    guard coming.contains(id) else { return nil }
    isWaiting = true
    return ObjectKey(0)
  }

  func takeWaiting() -> Bool {
    defer { isWaiting = false }
    return isWaiting
  }

  private func object(_ value: Value, _ id: ClassID) throws -> ObjectKey? {
    if session.schema[id].primaryKey != nil { return try session.find(primaryKey: value, in: id) }
    guard case .int(let number) = value else { return nil }
    let key = ObjectKey(number)
    return try session.location(of: key, in: id) == nil ? nil : key
  }
}

/// The target of a link does not exist, and the link is left out.
struct LinkIsLeftOut: Error {}
