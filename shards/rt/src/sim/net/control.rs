//! What a test may do to the network.

use std::ops::RangeInclusive;

use crate::sim::node::Node;
use crate::sim::simulation::Sim;

impl Sim {
    /// Cuts the link between two nodes, both ways: what is under way arrives when it heals. A sender whose bytes don't
    /// get through for two minutes gets TimedOut.
    pub fn partition(&self, a: &Node, b: &Node) {
        self.partition_one_way(a, b);
        self.partition_one_way(b, a);
    }

    /// Cuts the link from one node to another; the other direction still works.
    pub fn partition_one_way(&self, from: &Node, to: &Node) {
        self.world.net.borrow_mut().links.cut(from.id, to.id);
    }

    /// Cuts a node off from all others.
    pub fn isolate(&self, node: &Node) {
        for other in self.nodes().iter().filter(|other| other.id != node.id) {
            self.partition(node, other);
        }
    }

    /// Heals the link between two nodes, both ways.
    pub fn heal(&self, a: &Node, b: &Node) {
        {
            let links = &mut self.world.net.borrow_mut().links;
            links.heal(a.id, b.id);
            links.heal(b.id, a.id);
        }
        self.world.net_unstall();
    }

    /// Heals all links.
    pub fn heal_all(&self) {
        self.world.net.borrow_mut().links.heal_all();
        self.world.net_unstall();
    }

    /// Sets the one-way delay between two nodes, both ways, in microseconds.
    pub fn set_delay_us(&self, a: &Node, b: &Node, us: RangeInclusive<u64>) {
        let links = &mut self.world.net.borrow_mut().links;
        links.set_delay(a.id, b.id, us.clone());
        links.set_delay(b.id, a.id, us);
    }

    /// Resets every connection between two nodes; what was under way is lost.
    pub fn reset_connections(&self, a: &Node, b: &Node) {
        self.world.net_reset_between(a.id, b.id);
    }
}
