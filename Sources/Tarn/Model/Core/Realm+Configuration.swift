public import Foundation
import TarnStore

extension Realm {
  /// Which file a Realm opens, and how.
  public struct Configuration: Sendable, Equatable, CustomStringConvertible {
    /// What a commit waits for. Every commit survives the death of the process.
    public enum Durability: Sendable, CaseIterable {
      /// The commit has been synced to the disk: it survives a power failure. Takes two syncs.
      case full
      /// After a power failure the file is whole, but the last commit may be missing: what leads to
      /// it is synced with the next one, or by ``Realm/flush()``. Takes one sync.
      ///
      /// Openers with this level and with `full` may use a file at the same time. If both are in
      /// one process, all of its commits are as with `full`.
      case consistent
      /// The commit is in the operating system's buffers. After a power failure the file may be
      /// damaged. For data that can be recreated, and for benchmarks.
      ///
      /// The level is stored in the file when it is created, and is that of every opener, because
      /// commits that are not synced can destroy those that are: a Realm that is opened with
      /// another level is `relaxed`, too; see ``Realm/durability``. A file that was created with
      /// another level cannot be opened with this one.
      case relaxed
    }

    /// The configuration that `Realm()` opens. Threading: any.
    public static var defaultConfiguration: Configuration {
      get { shared.withLock { $0 } }
      set { shared.withLock { $0 = newValue } }
    }

    private static let shared = Lock(ofProcess: Configuration())

    /// The file: `default.realm` in the working directory unless set. Nil for an in-memory Realm.
    /// Setting it clears `inMemoryIdentifier`.
    public var fileURL: URL? {
      didSet { if fileURL != nil { inMemoryIdentifier = nil } }
    }

    /// The name of an in-memory Realm of this process. All threads of the process share it by this
    /// name; the same name in another process is another Realm. Its data is discarded with its last
    /// instance. Setting it clears `fileURL`.
    public var inMemoryIdentifier: String? {
      didSet { if inMemoryIdentifier != nil { fileURL = nil } }
    }

    /// True to refuse every write, and to refuse to create the file. Other processes' commits are
    /// read and observed as usual, unless this user cannot write the lock file or the signal file,
    /// the disk has no room for them, or no read transaction is left. Then the Realm has a private
    /// copy of the newest commit, which never changes, and its observers are called once with an
    /// error that names the cause.
    public var readOnly = false

    /// The classes that the Realm knows; nil for all classes that the program has loaded. Linked
    /// classes must be among them.
    public var objectTypes: [ObjectBase.Type]? {
      get { objectTypeList?.types }
      set { objectTypeList = newValue.map { ObjectTypeList(types: $0) } }
    }

    /// How far a commit goes before `write` returns.
    public var durability = Durability.full

    /// How many versions of the file may be in use at once; beginning a write traps if there are
    /// more. A version that a worker prepares for an instance counts. Nil for no limit.
    public var maximumNumberOfActiveVersions: UInt?

    /// How many bytes of the file may be kept for readers of older versions: pages that commits
    /// have freed, and that cannot be used again while any process, this one included, reads a
    /// version from before. The file grows by as much and does not shrink afterwards. If there
    /// are more, a write does not begin, and `Realm.Error.invalidInput` names the process that
    /// reads the oldest version. Nil for no limit; the log has a warning from 64 MiB on.
    public var maximumBytesOfActiveVersions: Int?

    /// How long the file keeps change records without a cursor. Stored in the file when it is
    /// opened for writing, if that extends the file's retention; only ``Realm/setRetention(_:)``
    /// lowers it. Nil to use the file's setting.
    public var retention: Retention?

    /// The author of this instance's commits, at most 64 bytes, stored in their records; see
    /// ``RetainedVersion/origin``. Nil for the program's name with its process id. All instances of
    /// a thread have the origin of the first.
    public var origin: String?

    /// The version of the program's model. Raise it whenever the model changes by more than added
    /// classes, properties or indexes; see the article on migrations. With 0 and no classes
    /// (`objectTypes: []`), as in tools, a file of any version is opened.
    public var schemaVersion: UInt64 = 0

    /// Converts the data of an older model to this one; see ``Migration``. Called when a file with
    /// a lower `schemaVersion` is opened, but not for a new file.
    public var migrationBlock: MigrationBlock? {
      get { migration?.block }
      set { migration = newValue.map { MigrationBox($0) } }
    }

    /// True to delete the file and start with an empty one where a migration would be needed: for
    /// development, and for data that can be recreated. Opening throws `Realm.Error.alreadyOpen`
    /// while any process has the file open. A file with a higher `schemaVersion` is never deleted:
    /// opening it throws `Realm.Error.schemaMismatch`, with or without this setting.
    public var deleteRealmIfMigrationNeeded = false

    /// True for a cache, whose data can be recreated: a file that the end of the machine may have
    /// damaged (durability `relaxed`) is checked as a whole when it is opened. If it is damaged, or
    /// if opening finds damage in any other file, it is deleted, and an empty one takes its place.
    /// Opening throws `Realm.Error.alreadyOpen` while any process has a damaged file open.
    public var deleteRealmIfDamaged = false

    /// A file to begin with: if there is no file at `fileURL`, opening makes an independent copy of
    /// this one there, as ``Realm/writeCopy(toFile:progress:)`` does. Nil to begin with an empty
    /// one.
    public var seedFilePath: URL?

    /// Decides whether to compact the file when it is opened: called with its number of bytes and
    /// the number of those in use, if no other process has the file open, and this one does not
    /// have it open already. Otherwise the file is opened as it is, and so if the compaction fails,
    /// which is logged. Traps together with `readOnly`. See ``Realm/compact(at:progress:)``.
    public var shouldCompactOnLaunch: (@Sendable (_ totalBytes: Int, _ usedBytes: Int) -> Bool)? {
      get { compaction?.block }
      set { compaction = newValue.map { CompactionBox($0) } }
    }

    /// True to refuse a file in an older format, with `Realm.Error.fileFormatUpgradeRequired`,
    /// instead of converting it when it is opened. Nothing is converted so far: there is one
    /// format.
    public var disableFormatUpgrade = false

    @available(
      *, unavailable,
      message: "Files are not encrypted by the library: put them in an encrypted file system"
    )
    /// Unavailable: files are not encrypted by the library.
    public var encryptionKey: Data? {
      get { nil }
      set {}
    }

    /// True to keep the objects that a cancelled write had added: the same Swift objects become
    /// unmanaged again, with the values that they had in the write, and can be added again.
    /// Otherwise they are invalidated. Costs a reference to each added object until the write ends.
    public var returnsObjectsOfCancelledWrites = false

    /// True to let Swift's Observation track reads: `withObservationTracking { dog.age }` is
    /// notified when a local assignment, an advance of the Realm, a cancelled write or a deletion
    /// changes the property, or a collection; see <doc:Properties>. Every read then takes many
    /// times as long. Off, it costs nothing.
    public var tracksObservation = false

    /// Whether a file is created where there is none: false for tools that open an existing one.
    package var createsFile = true

    /// Keeps the file in step with the objects of a server; nil without sync.
    package var companion: (any StoreCompanion)? {
      get { companionBox?.companion }
      set { companionBox = newValue.map { CompanionBox(companion: $0) } }
    }

    private var companionBox: CompanionBox?
    private var objectTypeList: ObjectTypeList?
    private var migration: MigrationBox?
    private var compaction: CompactionBox?

    /// The file, or the name of an in-memory Realm, and the settings that differ from the defaults.
    /// An `inMemoryIdentifier` takes precedence over a file.
    public init(
      fileURL: URL? = URL(fileURLWithPath: "default.realm"), inMemoryIdentifier: String? = nil,
      readOnly: Bool = false, schemaVersion: UInt64 = 0, migrationBlock: MigrationBlock? = nil,
      deleteRealmIfMigrationNeeded: Bool = false,
      shouldCompactOnLaunch: (@Sendable (Int, Int) -> Bool)? = nil,
      objectTypes: [ObjectBase.Type]? = nil, seedFilePath: URL? = nil,
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
      self.seedFilePath = seedFilePath
      self.shouldCompactOnLaunch = shouldCompactOnLaunch
    }

    /// The location of the store: the file's path, or the name of the in-memory Realm.
    public var description: String {
      let location = inMemoryIdentifier.map { "in memory '\($0)'" } ?? fileURL?.path ?? "nowhere"
      return "Realm.Configuration(\(location)\(readOnly ? ", read-only" : ""))"
    }
  }
}

extension Realm.Configuration.Durability {
  var stored: EnvironmentOptions.Durability {
    switch self {
    case .full: .full
    case .consistent: .consistent
    case .relaxed: .relaxed
    }
  }

  init(_ stored: EnvironmentOptions.Durability) {
    switch stored {
    case .full: self = .full
    case .consistent: self = .consistent
    case .relaxed: self = .relaxed
    }
  }
}

/// Blocks cannot be compared; this compares the places where they were set.
private final class MigrationBox: Equatable, Sendable {
  let block: MigrationBlock
  init(_ block: @escaping MigrationBlock) { self.block = block }
  static func == (a: MigrationBox, b: MigrationBox) -> Bool { a === b }
}

/// Like `MigrationBox`.
private final class CompactionBox: Equatable, Sendable {
  let block: @Sendable (Int, Int) -> Bool
  init(_ block: @escaping @Sendable (Int, Int) -> Bool) { self.block = block }
  static func == (a: CompactionBox, b: CompactionBox) -> Bool { a === b }
}

/// Metatypes cannot be compared; this compares them by identity.
private struct ObjectTypeList: Equatable, Sendable {
  let types: [ObjectBase.Type]
  static func == (a: Self, b: Self) -> Bool {
    a.types.map { ObjectIdentifier($0) } == b.types.map { ObjectIdentifier($0) }
  }
}

extension Realm.Configuration {
  /// The location of the store.
  var location: StoreLocation {
    if let inMemoryIdentifier { return .memory(inMemoryIdentifier) }
    guard let fileURL else {
      trap("A configuration needs a fileURL or an inMemoryIdentifier.")
    }
    return .file(fileURL.path)
  }

  /// Whether to take the schema version from the file: a program without classes, such as a tool,
  /// has no model and so no version of its own.
  func takesVersionOfFile(_ model: ModelSchema) -> Bool {
    schemaVersion == 0 && model.definitions.isEmpty
  }

  func storeOptions(_ model: ModelSchema) -> Store.Options {
    var options = Store.Options()
    options.isReadOnly = readOnly
    options.createsStore = createsFile
    options.durability = inMemoryIdentifier == nil ? durability.stored : .relaxed
    options.acceptsUncertain = deleteRealmIfDamaged && !readOnly
    options.classes = model.definitions
    options.schemaVersion = takesVersionOfFile(model) ? nil : schemaVersion
    return options
  }
}
