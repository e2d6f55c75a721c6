public import Foundation

/// Why an undo was refused: later commits changed the same properties or objects.
public struct UndoRefusal: Error, Equatable, Sendable, CustomStringConvertible, LocalizedError {
  /// One of the later changes.
  public struct Conflict: Equatable, Sendable, CustomStringConvertible {
    /// The later change of the object.
    public enum Cause: Equatable, Sendable {
      /// The property was set again.
      case modified(property: String)
      /// The object was deleted.
      case deleted
      /// Another object was added under the object's key.
      case replaced
      /// Links to the object were made or removed, and the undo would delete it.
      case linked
      /// Another object has the primary key of an object that the undo would bring back.
      case keyTaken
    }

    /// The object's class.
    public let className: String
    /// The object's primary key as text; nil if the class has none.
    public let primaryKey: String?
    /// The later change of the object.
    public let cause: Cause

    init(className: String, primaryKey: String?, cause: Cause) {
      self.className = className
      self.primaryKey = primaryKey
      self.cause = cause
    }

    public var description: String {
      let object = primaryKey.map { "\(className) \($0)" } ?? "an object of class \(className)"
      return switch cause {
      case .modified(let property): "\(object): \(property) was set again"
      case .deleted: "\(object) was deleted"
      case .replaced: "\(object) was replaced"
      case .linked: "\(object) got or lost links"
      case .keyTaken: "\(object): another object has its key"
      }
    }
  }

  /// The version that was to be undone.
  public let version: UInt64
  /// The later changes, in the order of classes and objects.
  public let conflicts: [Conflict]

  public var description: String {
    let some = conflicts.prefix(10).map(\.description).joined(separator: "; ")
    let more = conflicts.count > 10 ? "; and \(conflicts.count - 10) more" : ""
    return "Version \(version) cannot be undone, because later commits changed the same: "
      + "\(some)\(more). To overwrite that, call undo with overwriting: true."
  }

  public var errorDescription: String? { description }
}
