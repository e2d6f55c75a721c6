public import Foundation
import Synchronization

extension Realm {
  /// Which file a Realm opens, and how.
  public struct Configuration: Sendable, Equatable, CustomStringConvertible {
    /// How far a commit goes before `write` returns.
    public enum Durability: Sendable {
      /// The commit has been synced to the disk: it survives a power failure.
      case full
      /// The commit is in the operating system's hands: it survives the death of the process, not
      /// that of the machine. Stored in the file when it is created, and the same for all who
      /// open it; meant for data that can be made again, and for measuring.
      case relaxed
    }

    /// The configuration that `Realm()` opens. Threading: any.
    public static var defaultConfiguration: Configuration {
      get { shared.withLock { $0 } }
      set { shared.withLock { $0 = newValue } }
    }

    private static let shared = Mutex(Configuration())

    /// The file, `default.realm` in the working directory unless set. Nil if the Realm is in
    /// memory. Setting it clears `inMemoryIdentifier`.
    public var fileURL: URL? {
      didSet { if fileURL != nil { inMemoryIdentifier = nil } }
    }

    /// Names a Realm that is kept in the memory of this process and is gone with its last instance,
    /// or with the process. Its threads share it by this name; other processes have others of the
    /// same name. Setting it clears `fileURL`.
    public var inMemoryIdentifier: String? {
      didSet { if inMemoryIdentifier != nil { fileURL = nil } }
    }

    /// True to refuse every write, and to refuse to create the file. Other processes' commits are
    /// followed and observed as ever, unless this user may not write the lock file: then the Realm
    /// has a private copy of the newest commit, which stays as it is.
    public var readOnly = false

    /// The classes that the Realm knows, nil for all that the program has loaded. Linked classes
    /// must be among them.
    public var objectTypes: [ObjectBase.Type]? {
      get { objectTypeList?.types }
      set { objectTypeList = newValue.map { ObjectTypeList(types: $0) } }
    }

    /// How far a commit goes before `write` returns.
    public var durability = Durability.full

    /// How many versions of the file may be in use at once; beginning a write with more of them
    /// traps. One that a worker prepares for an instance counts. Nil for no limit.
    public var maximumNumberOfActiveVersions: UInt?

    /// The number of the program's model. Raise it whenever the model changes in a way that is
    /// more than adding classes, properties or indexes; see the article on migrations.
    public var schemaVersion: UInt64 = 0

    /// What turns the data of an older model into that of this one; see ``Migration``. Called when
    /// a file with a lower `schemaVersion` is opened, not for a new one.
    public var migrationBlock: MigrationBlock? {
      get { migration?.block }
      set { migration = newValue.map { MigrationHolder($0) } }
    }

    /// True to delete the file and begin with an empty one where a migration would be needed:
    /// for development, and for data that can be made again. Opening throws
    /// `Realm.Error.alreadyOpen` while anybody has the file open.
    public var deleteRealmIfMigrationNeeded = false

    /// True to get the objects back that a cancelled write had added: the same Swift objects are
    /// unmanaged again then, with the values that they had in the write, ready to be added once
    /// more. Otherwise they are invalidated. Costs a reference to each added object until the write
    /// ends.
    public var returnsObjectsOfCancelledWrites = false

    private var objectTypeList: ObjectTypeList?
    private var migration: MigrationHolder?

    /// The file, or the name in memory, and what differs from the usual. An `inMemoryIdentifier`
    /// counts for more than a file.
    public init(
      fileURL: URL? = URL(fileURLWithPath: "default.realm"), inMemoryIdentifier: String? = nil,
      readOnly: Bool = false, schemaVersion: UInt64 = 0, migrationBlock: MigrationBlock? = nil,
      deleteRealmIfMigrationNeeded: Bool = false, objectTypes: [ObjectBase.Type]? = nil,
      durability: Durability = .full
    ) {
      self.fileURL = inMemoryIdentifier == nil ? fileURL : nil
      self.inMemoryIdentifier = inMemoryIdentifier
      self.readOnly = readOnly
      self.durability = durability
      self.schemaVersion = schemaVersion
      self.deleteRealmIfMigrationNeeded = deleteRealmIfMigrationNeeded
      self.migrationBlock = migrationBlock
      self.objectTypes = objectTypes
    }

    /// What names the store: the file's path, or the name of the one in memory.
    public var description: String {
      let place = inMemoryIdentifier.map { "in memory '\($0)'" } ?? fileURL?.path ?? "nowhere"
      return "Realm.Configuration(\(place)\(readOnly ? ", read-only" : ""))"
    }
  }
}

/// Blocks do not compare; this compares by where the block was set.
private final class MigrationHolder: Equatable, Sendable {
  let block: MigrationBlock
  init(_ block: @escaping MigrationBlock) { self.block = block }
  static func == (a: MigrationHolder, b: MigrationHolder) -> Bool { a === b }
}

/// Metatypes do not compare; this compares them by identity.
private struct ObjectTypeList: Equatable, Sendable {
  let types: [ObjectBase.Type]
  static func == (a: Self, b: Self) -> Bool {
    a.types.map { ObjectIdentifier($0) } == b.types.map { ObjectIdentifier($0) }
  }
}
