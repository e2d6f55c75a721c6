/// The layers of a library are its folders, the lowest first: no file uses what a folder above its
/// own declares.
struct Layers {
  let module: String
  let folders: [String]
  /// How far the library may be from the rules for now.
  var debts = Debts()

  var name: Substring { module.split(separator: "/").last ?? "" }

  /// The folder of the library's tests, whose folders are named as the library's are.
  var tests: String { "Tests/\(name)Tests" }

  /// Folders of tests that are not named after one of a library: what tests of several folders use,
  /// code that a test compiles, rules that hold in all folders, and programs that use all of them.
  static let otherTestFolders: Set = ["Support", "Compiling", "Equality", "Simulation"]

  static let engine = Layers(
    module: "Sources/TarnStore",
    folders: [
      "Threads", "Sorting", "Files", "Storage", "Signals", "Scalars", "Keys", "Records",
      "Schemas", "Clusters", "Indexes", "Directories", "Runs", "Changes", "Snapshots",
      "Cursors", "Sequences", "Before", "Writing", "Unique", "Checks", "Migrations", "Store",
      "Conditions",
      "Texts", "Parsing", "Reading", "Past", "Matching", "Binding", "Scanning", "Scopes", "Orders",
      "OrderedRows", "Queries", "Grouping", "Following", "Differences",
    ])

  static let sync = Layers(
    module: "Sources/TarnSync",
    folders: [
      "Merge", "Wire", "Connection", "Filters", "Server", "Administration", "Exchange",
      "Subscriptions", "Replica", "Editing", "Pushing", "Link", "Session", "Users", "Synced",
    ])

  static let library = Layers(
    module: "Sources/Tarn",
    folders: [
      "Logging", "Primitives", "Sources", "Scheduling", "Observing", "Instances", "Classes",
      "Core", "Properties", "Collections", "Objects", "Querying", "Results", "Groups", "Sections",
      "Projections", "Transactions", "Migrating", "Opening", "Freezing", "Passing", "Realms",
      "Feed",
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
