/// The layers of a library are its rooms, the lowest first: no file uses what a room above its own
/// declares. A room is a folder; a wing is a folder of rooms that follow each other.
struct Layers {
  struct Wing {
    let name: String
    /// The lowest first; none if the wing is itself a room.
    let rooms: [String]
  }

  let module: String
  let wings: [Wing]
  /// How far the library may be from the rules for now.
  var debts = Debts()

  /// The rooms.
  var folders: [String] { wings.flatMap { $0.rooms.isEmpty ? [$0.name] : $0.rooms } }

  var name: Substring { module.split(separator: "/").last ?? "" }

  /// The folder of the library's tests, whose folders are named as the library's rooms are.
  var tests: String { "Tests/\(name)Tests" }

  /// Folders of tests that are not named after one of a library: what tests of several folders use,
  /// code that a test compiles, rules that hold in all folders, and programs that use all of them.
  static let otherTestFolders: Set = ["Support", "Compiling", "Equality", "Simulation"]

  init(module: String, wings: [(String, [String])]) {
    self.module = module
    self.wings = wings.map { Wing(name: $0, rooms: $1) }
  }

  /// A library without wings.
  init(module: String, folders: [String]) {
    self.init(module: module, wings: folders.map { ($0, []) })
  }

  static let engine = Layers(
    module: "Sources/TarnStore",
    wings: [
      ("File", ["Threads", "Sorting", "Files", "Storage", "Signals"]),
      (
        "Pages",
        ["Scalars", "Keys", "Records", "Schemas", "Clusters", "Indexes", "RowCounts"]
      ),
      ("Versions", ["Runs", "Changes", "Snapshots", "Cursors"]),
      ("Writing", ["Sequences", "OldValues", "Writing", "Unique"]),
      ("Store", ["Checks", "Migrations", "Store", "Copying"]),
      (
        "Query",
        [
          "Conditions", "Texts", "Parsing", "Reading", "Past", "Matching", "Binding", "Scanning",
        ]
      ),
      (
        "Live",
        [
          "Scopes", "Orders", "OrderedRows", "Queries", "Grouping", "Routing", "Following",
          "Differences",
        ]
      ),
    ])

  static let sync = Layers(
    module: "Sources/TarnSync",
    folders: [
      "Merge", "Wire", "Connection", "Filters", "Server", "Administration", "Exchange",
      "Subscriptions", "Replica", "Editing", "Pushing", "Replicator", "Session", "Users", "Synced",
    ])

  static let library = Layers(
    module: "Sources/Tarn",
    wings: [
      ("Values", ["Logging", "Primitives"]),
      ("Instance", ["Sources", "Scheduling", "Observing", "Instances"]),
      ("Model", ["Classes", "Core", "Properties"]),
      ("Objects", ["Collections", "Objects"]),
      ("Query", ["Querying", "Results"]),
      ("Derived", ["Groups", "Sections", "Projections"]),
      ("Realm", ["Transactions", "Migrating", "Opening", "Freezing", "Passing", "Realms"]),
      ("Feed", []),
    ])
}

/// How many files and lines a folder has, or may have.
struct RoomSize: Equatable, CustomStringConvertible {
  var files: Int
  var lines: Int

  /// Of every folder: one can be read in a day.
  static let limit = RoomSize(files: 30, lines: 3500)

  func fits(_ limit: RoomSize) -> Bool { files <= limit.files && lines <= limit.lines }
  var description: String { "\(files) files, \(lines) lines" }
}

/// What a library has more of than the rules allow. A library that keeps them has none.
struct Debts: Equatable {
  /// Uses of what a folder above declares.
  var upwardUses = 0
  /// Files of which each uses each other one, directly or through more of them.
  var filesInAKnot = 13
  /// The same of folders.
  var foldersInACircle = 0
  var rooms: [String: RoomSize] = [:]
}
