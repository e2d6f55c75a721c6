import Foundation
import TarnStore
import ToolSupport

/// `tarn load`: makes a store of a dump. The store gets its name when it is complete.
struct LoadCommand {
  private let path: String
  private let input: String
  private let patience: WriterPatience

  init(_ arguments: ParsedArguments) throws {
    path = arguments.required("FILE")
    input = arguments.required("INPUT")
    patience = try WriterPatience(arguments)
  }

  func run(_ output: OutputPipe) throws -> ExitCode {
    let reader = try DumpReader(input)
    let header = try reader.header()
    let file = try NewStoreFile(path)
    Interruption.beforeEnd {
      file.remove()
      TarnProgram.complain(Self.interruption.message)
      _exit(ExitCode.failure.rawValue)
    }
    do {
      let count = try load(reader, header, into: file.temporaryPath)
      try Interruption.beginCommit()
      try file.publish()
      try output.write(
        "\(printable(path)): \(counted(header.classes.count, "class", plural: "es")), "
          + "\(counted(count, "object"))\n")
      return .success
    } catch {
      file.remove()
      throw error as? ToolError == Interruption.error ? Self.interruption : error
    }
  }

  private static let interruption = ToolError("ended by a signal; nothing was loaded")

  /// A separate function, so that nothing holds the store when it returns.
  private func load(
    _ reader: DumpReader, _ header: (classes: [ClassDefinition], schemaVersion: UInt64),
    into path: String
  ) throws -> Int {
    var options = Store.Options()
    options.classes = header.classes
    options.schemaVersion = header.schemaVersion
    let store = try StoreRegistry.open(path, options)
    let loader = DumpLoader(reader, try store.newestSnapshot().schema.schema)
    var progress = ProgressBar("Loading", total: reader.totalBytes)
    while try commit(loader, reader, store) { progress.update(reader.consumedBytes) }
    if loader.hasLinksAhead {
      let links = LoadedLinks(try SnapshotReader(store.newestSnapshot()))
      try links.check(loader.sections, reader.name)
    }
    return loader.objectCount
  }

  private func commit(_ loader: DumpLoader, _ reader: DumpReader, _ store: Store) throws -> Bool {
    let first = reader.lineNumber + 1
    do {
      let goesOn = try StoreAccess.write(store, patience) { try loader.fill($0) }.result
      // The result is a file with a name.
      Interruption.endCommit(isResult: false)
      try Interruption.check()
      return goesOn
    } catch let error as StorageError where error.code == .notUnique {
      throw ToolError("\(reader.name), lines \(first) to \(reader.lineNumber): \(error.detail)")
    }
  }
}
