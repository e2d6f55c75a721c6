internal import CTarn

/// What happens when mapped bytes cannot be read: another program has cut the file, or the disk
/// fails. The kernel then ends the process by SIGBUS, without a word.
package enum BusErrors {
  /// Lets the process name the file before it ends. For programs: a library does not handle signals
  /// of the program that uses it.
  package static func explain() { tarn_explain_bus_errors() }
}
