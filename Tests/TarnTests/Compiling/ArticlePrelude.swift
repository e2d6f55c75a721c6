/// What the programs in the articles name and do not declare: classes, and objects of theirs.
enum ArticlePrelude {
  static let text = #"""
    import Foundation
    import Observation
    import Tarn

    class Dog: Object {
      @Persisted(primaryKey: true) var id: Int
      @Persisted var name: String
      @Persisted var age: Int
      @Persisted var breed: String
      @Persisted var owner: Person?
    }
    class Person: Object {
      @Persisted var name: String
      @Persisted var firstName: String
      @Persisted var age: Int
      @Persisted var income: Double?
      @Persisted var city: String?
      @Persisted var isActive: Bool
      @Persisted var address: Address?
      @Persisted var extras: Extras?
      @Persisted var friends: List<Person>
      @Persisted var dogs: List<Dog>
      @Persisted var tags: MutableSet<String>
      @Persisted var pets: Map<String, Dog?>
    }
    class Note: EmbeddedObject { @Persisted var text: String }
    class Address: EmbeddedObject {
      @Persisted var city: String
      @Persisted var street: String
    }
    class Extras: EmbeddedObject { @Persisted var phone: Phone? }
    class Phone: EmbeddedObject { @Persisted var mobile: Mobile? }
    class Mobile: EmbeddedObject { @Persisted var number: String }
    class Invoice: Object {
      @Persisted var amount: Double
      @Persisted var isPaid: Bool
    }
    class Order: Object {
      @Persisted var isPaid: Bool
      @Persisted var lines: List<OrderLine>
    }
    class OrderLine: EmbeddedObject { @Persisted var price: Double }
    class Place: EmbeddedObject {
      @Persisted var type = "Point"
      @Persisted var coordinates: List<Double>
    }
    class PersonCard: Projection<Person> {
      @Projected(\Person.extras?.phone?.mobile?.number) var mobile
    }
    class Shop: Object { @Persisted var location: Place? }
    actor Kennel {
      func note<Change>(_ change: Change) {}
    }
    final class Label { var text = "" }
    struct TableView { func deleteRows(at positions: [DogIndex]) {} }
    extension Results { subscript(place: DogIndex) -> Element { self[0] } }
    final class DogIndex {
      var position: ChangePosition?
      func removeAll() {}
      func remove(_ identity: ObjectIdentity) {}
      func store(_ dog: Dog) {}
      func apply(_ batch: ChangeBatch) {}
      func transaction(_ body: () -> Void) { body() }
    }

    var realm: Realm { fatalError() }
    var dogs: Results<Dog> { realm.objects(Dog.self) }
    var people: Results<Person> { realm.objects(Person.self) }
    var guests: Results<Person> { people }
    var shops: Results<Shop> { realm.objects(Shop.self) }
    var orders: Results<Order> { realm.objects(Order.self) }
    var dog: Dog { dogs[0] }
    var person: Person { people[0] }
    var order: Order { orders[0] }
    var kennel: Kennel { Kennel() }
    var label: Label { fatalError() }
    var index: DogIndex { DogIndex() }
    var cursor: ChangeCursor { fatalError() }
    var batch: ChangeBatch { fatalError() }
    var card: PersonCard { PersonCard(projecting: person) }
    var cities: GroupedResults<String?, (Double?, Double?)> {
      people.grouped(by: \.city, .average(of: \.age), .max(of: \.income))
    }
    var results: Results<Dog> { dogs }
    var token: NotificationToken { fatalError() }
    var tableView: TableView { TableView() }
    var age: Int { 3 }
    var typedByUser: String { "" }
    var data: Data { Data() }
    func show<Rows>(_ rows: Rows) {}
    func archive<Row>(_ version: UInt64, _ identity: ObjectIdentity, _ old: Row, _ new: Row?) {}
    func update<Rows>(_ rows: Rows, _ old: [Int], _ new: [Int], _ changed: [Int]) {}

    """#
}
