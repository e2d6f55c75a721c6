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
  /// - Returns: the file, or why it is not open; then whether `run` would fail there, too.
  private func open(_ path: String) -> (file: OpenFile?, reason: String, fails: Bool) {
    if !check.makesCompanions, FileFacts.at(path) != nil,
      ["-lock", "-signal"].contains(where: { FileFacts.at(path + $0) == nil })
    {
      return (
        nil, "not opened, because files beside it would belong to root; give its user to --user",
        false
      )
    }
    do {
      return (try OpenFile(path, readOnly: !isInDaemon), "", false)
    } catch {
      // A store that is not there yet comes later.
      return (nil, "\(error)", !(error is ToolError))
    }
  }

  // MARK: - Watches

  func findings(_ watch: WatchSettings) -> [Finding] {
    let paths = FileTable.paths(of: watch.file)
    var found: [Finding] = []
    for one in watch.classes {
      guard let filter = one.filter else { continue }
      do {
        try CursorSelection.checkSyntax(ofFilter: filter, onClass: one.name)
      } catch {
        return [.problem(watch.name, "\(error)")]
      }
    }
    if paths.isEmpty { found.append(.note(watch.name, "no file matches \(watch.file) yet")) }
    // Stores that do not have what the watch selects. Of several stores some may get it later.
    var unfit: [Finding] = []
    var isFit = false
    for path in paths {
      let (file, reason, fails) = open(path)
      guard let file else {
        let isProblem = fails && !FileTable.isPattern(watch.file)
        let text = "\(path): \(reason)"
        found.append(isProblem ? .problem(watch.name, text) : .note(watch.name, text))
        continue
      }
      do {
        try file.checkSelection(of: watch)
        isFit = true
        found += try file.findings(watch, context)
      } catch {
        let hasClasses = (try? file.store.newestSnapshot().schema.schema.classes.isEmpty) == false
        let text = "\(path): \(error)"
        if hasClasses {
          unfit.append(.problem(watch.name, text))
        } else {
          found.append(.note(watch.name, text))
        }
      }
    }
    return found + (isFit ? unfit.map { .note($0.place, $0.message) } : unfit)
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
      let known = (try? open(path).file?.store.cursors()) ?? []
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
    if paths.isEmpty { found.append(.note(place, "no file matches \(sync.file) yet")) }
    for path in paths {
      let (file, reason, fails) = open(path)
      guard let file else {
        let isProblem = fails && !FileTable.isPattern(sync.file)
        let text = "\(path): \(reason)"
        found.append(isProblem ? .problem(place, text) : .note(place, text))
        continue
      }
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
  fileprivate func findings(_ watch: WatchSettings, _ context: DaemonContext) throws -> [Finding] {
    var found: [Finding] = []
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
            "\(path): starts anew, because class, filter or columns differ from those of its cursor"
          ))
      }
    }
    if !PathRights.may(path, W_OK) {
      found.append(
        .note(
          watch.name,
          "\(path): cannot be written, so positions are kept in the state folder and hold only as "
            + "long as the file's retention"))
      if let doubt = filterDoubt(watch) { found.append(.note(watch.name, doubt)) }
    }
    return found
  }
}
