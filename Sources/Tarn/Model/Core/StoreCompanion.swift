package import TarnStore

extension Realm {
  /// Whether an opening waits until the server's objects are in the file. Without a server all
  /// cases mean the same.
  public enum OpenBehavior: Sendable {
    /// Opens the file without waiting.
    case never
    /// Waits until everything was downloaded once; later openings do not wait.
    case once
    /// Waits until everything is here that the server had when the opening began.
    case always
  }
}

/// The part of a synchronization library in opening a configuration's files.
package protocol StoreCompanion: AnyObject, Sendable {
  /// Called before the configuration's file is opened.
  func prepare(_ configuration: Realm.Configuration) throws(Realm.Error)

  /// The file is open, with the classes of the configuration.
  ///
  /// - Parameters:
  ///   - classes: their names in the file.
  ///   - configuration: the one that opens it.
  /// - Returns: an object that lives as long as the instance.
  func attach(
    to store: Store, classes: [String], _ configuration: Realm.Configuration
  ) throws(Realm.Error) -> AnyObject

  /// Waits as the opening requires. May block.
  ///
  /// - Returns: an object that must live until `attach` was called.
  func download(
    into store: Store, classes: [String], _ configuration: Realm.Configuration,
    _ behavior: Realm.OpenBehavior,
    isCancelled: @Sendable () -> Bool
  ) throws(Realm.Error) -> AnyObject & Sendable
}

/// Companions are compared by identity.
struct CompanionBox: Equatable, Sendable {
  let companion: any StoreCompanion
  static func == (a: CompanionBox, b: CompanionBox) -> Bool { a.companion === b.companion }
}
