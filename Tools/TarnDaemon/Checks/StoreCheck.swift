import Foundation
import SyncProgram
import Tarn
import TarnStore
import TarnSync
import ToolSupport

/// What the stores of a configuration say against it.
struct StoreCheck {
  private let check: ConfigurationCheck
  private var context: DaemonContext { check.context }

  init(_ check: ConfigurationCheck) { self.check = check }

  private var isInDaemon: Bool {
    if case .daemon = check.side { true } else { false }
  }

  /// Opens a store as `run` would, but for reading outside of the daemon.
  ///
  /// - Parameters:
  ///   - pattern: what the configuration names.
  ///   - found: gets why `run` could not open or follow it.
  private func open(
    _ path: String, of pattern: String, _ place: String, _ found: inout [Finding]
  ) -> OpenFile? {
    if !check.makesCompanions, FileFacts.at(path)?.isRegularFile == true,
      ["-lock", "-signal"].contains(where: { FileFacts.at(path + $0) == nil })
    {
      found.append(
        .note(
          place,
          "\(path): not opened, because files beside it would belong to root; give its user to "
            + "--user"))
      return nil
    }
    do {
      let file = try OpenFile(path, readOnly: !isInDaemon)
      if let cause = file.copyCause {
        found.append(.problem(place, "\(path): the file cannot be followed: \(cause)"))
      }
      return file
    } catch {
      found.append(finding(error, path, of: pattern, place))
      return nil
    }
  }

  private func finding(
    _ error: any Error, _ path: String, of pattern: String, _ place: String
  ) -> Finding {
    let text = "\(path): \(error)"
    switch error {
    // It comes later.
    case is OpenFile.Absence: return .note(place, text)
    // Of several stores one may be damaged, or busy for long.
    case let error as StorageError
    where error.code != .permissionDenied && FileTable.isPattern(pattern):
      return .warning(place, text)
    default: return .problem(place, text)
    }
  }

  private func absence(of pattern: String, _ place: String) -> Finding {
    PathRights.faultOfLooking(for: pattern).map { .problem(place, $0) }
      ?? .note(place, "no file matches \(pattern) yet")
  }

  // MARK: - Watches

  func findings(_ watch: WatchSettings) -> [Finding] {
    let faults = faultsOfFilters(watch)
    if !faults.isEmpty { return faults }
    var found: [Finding] = []
    let paths = FileTable.paths(of: watch.file)
    if paths.isEmpty { found.append(absence(of: watch.file, watch.name)) }
    var lacks = ClassLacks(watch)
    // Stores whose classes do not fit. If there are several, some may be migrated later.
    var unfit: [Finding] = []
    var isFit = false
    for path in paths {
      guard let file = open(path, of: watch.file, watch.name, &found) else { continue }
      let faults = self.faults(of: watch, in: file, &lacks)
      unfit += faults
      if faults.isEmpty { isFit = true }
      found += (try? file.findings(watch, context)) ?? []
      found += rights(of: watch, in: file)
    }
    found += isFit ? unfit.map { .warning($0.place, $0.message) } : unfit
    return found + lacks.findings()
  }

  private func faultsOfFilters(_ watch: WatchSettings) -> [Finding] {
    watch.classes.compactMap { one in
      do {
        guard let filter = one.filter else { return nil }
        try CursorSelection.checkSyntax(ofFilter: filter, onClass: one.name)
        return nil
      } catch {
        return .problem(watch.name, "\(error)")
      }
    }
  }

  /// All reasons why the classes of a store do not fit a watch, not only the first.
  private func faults(
    of watch: WatchSettings, in file: OpenFile, _ lacks: inout ClassLacks
  ) -> [Finding] {
    do {
      let (present, awaited) = try file.classes(of: watch)
      lacks.add(file.path, awaited, try file.store.newestSnapshot().schema.schema)
      return present.compactMap { one in
        do {
          try file.checkSelection(of: watch.of([one]) ?? watch)
          return nil
        } catch {
          return .problem(watch.name, "\(file.path): \(error)")
        }
      }
    } catch {
      return [.problem(watch.name, "\(file.path): \(error)")]
    }
  }

  private func rights(of watch: WatchSettings, in file: OpenFile) -> [Finding] {
    if PathRights.may(file.path, W_OK) || file.copyCause != nil { return [] }
    if context.positions == nil, !check.mayHaveState,
      !watch.sinks.allSatisfy(\.servesClients)
    {
      return [
        .problem(
          watch.name,
          "\(file.path): cannot be written, and there is no folder for positions: give the key "
            + "'state'")
      ]
    }
    let doubt = file.filterDoubt(watch).map { Finding.note(watch.name, $0) }
    return [
      .note(
        watch.name,
        "\(file.path): cannot be written, so positions are kept in the state folder and hold only "
          + "as long as the file's retention")
    ] + (doubt.map { [$0] } ?? [])
  }

  /// Cursors of this daemon that no watch has any more.
  func forgottenCursors() -> [Finding] {
    var expected: [String: Set<String>] = [:]
    for watch in check.settings.watches {
      for path in FileTable.paths(of: watch.file) {
        for sink in watch.sinks {
          for name in [watch.name, watch.formerName].compactMap({ $0 }) {
            expected[path, default: []].insert(context.cursorName(name, sink.name))
          }
        }
      }
    }
    return expected.sorted { $0.key < $1.key }.flatMap { path, names -> [Finding] in
      var ignored: [Finding] = []
      let known = (try? open(path, of: path, "", &ignored)?.store.cursors()) ?? []
      return known.map(\.record.name).compactMap { cursor in
        guard let name = context.ownName(of: cursor), !names.contains(name) else { return nil }
        return .note(
          path,
          "the cursor '\(cursor)' belongs to no watch any more: delete it with 'tarn cursor delete "
            + "\(path) \(cursor)', or give its watch's name to 'rename'")
      }
    }
  }

  // MARK: - Synchronization

  func findings(_ sync: SyncSettings) -> [Finding] {
    let place = "sync"
    var found: [Finding] = []
    if let path = sync.passfile {
      if let fault = PathRights.faultOfReading(path) {
        found.append(.problem(place, "passfile: \(fault)"))
      } else if PathRights.isOpenToOthers(path) {
        found.append(
          .problem(place, "passfile: \(path) is ignored while others may read it: chmod 600"))
      }
    }
    let paths = FileTable.paths(of: sync.file)
    if paths.isEmpty { found.append(absence(of: sync.file, place)) }
    for path in paths {
      guard let file = open(path, of: sync.file, place, &found) else { continue }
      do {
        let chosen = try ChosenObjects(sync.conditions)
        try chosen.check(file.store)
        let schema = try file.store.newestSnapshot().schema.schema
        _ = try ExchangedClasses.chosen(sync.classes + chosen.classNames, schema, path)
      } catch {
        // The daemon tries again when the schema changes.
        found.append(
          FileTable.isPattern(sync.file)
            ? .note(place, "\(path): \(error)") : .problem(place, "\(path): \(error)"))
      }
      if !PathRights.may(path, W_OK) {
        found.append(.problem(place, "\(path): \(PathRights.who) may not write it"))
      }
    }
    return found
  }
}

extension OpenFile {
  /// What the sinks of a watch would meet here.
  fileprivate func findings(_ all: WatchSettings, _ context: DaemonContext) throws -> [Finding] {
    var found: [Finding] = []
    guard let watch = all.of(try classes(of: all).present) else { return [] }
    for sink in watch.sinks {
      let place = "\(watch.name)/\(sink.name)"
      let name = context.cursorName(watch.name, sink.name)
      let earlier = try earlierCursors(of: name)
      if try cursorRecord(name) == nil, earlier.count > 1 {
        found.append(.note(place, "\(path): \(Self.doubt(earlier, name))"))
      }
      if try selectionDiffers(of: earlier.first?.record.name ?? name, watch) {
        found.append(
          .note(
            place,
            "\(path): needs a full resync, because class, filter or columns differ from those of "
              + "its cursor"
          ))
      }
    }
    return found
  }
}
